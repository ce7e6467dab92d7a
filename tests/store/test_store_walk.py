"""A model in RAM, in a folder, and in the same folder of another process: any walk, the same bits.

The other process is a forked child, which was started before the folder was opened.
"""

import multiprocessing
import shutil
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from long import LONG
from minout import Learner, group_commit, model_store
from oracle.margin import IN_MEMORY, saved
from oracle.operations import KINDS, perform

EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)
PATIENCE = 60.0


def serve(pipe):
    """Do what comes through a pipe with a learner of this process; send back what it returns."""
    learner = None
    while (order := pipe.recv()) is not None:
        name, *arguments = order
        if name == "open":
            folder, durability, options = arguments
            learner, answer = Learner.open(folder, durability=durability, **options), None
        elif name == "saved":
            learner.flush()
            learner.reload()
            answer = saved(learner)
        elif name == "close":
            answer = learner.close()
        else:
            answer = perform(learner, order)
        pipe.send(answer)


class OtherProcess:
    """A child with a learner of its own."""

    def __init__(self):
        fork = multiprocessing.get_context("fork")
        self.pipe, theirs = fork.Pipe()
        self.child = fork.Process(target=serve, args=(theirs,), daemon=True)
        self.child.start()

    def __call__(self, *order):
        """Have an order done, and return the answer."""
        self.pipe.send(order)
        assert self.pipe.poll(PATIENCE)
        return self.pipe.recv()

    def end(self):
        """End the child."""
        self.pipe.send(None)
        self.child.join(PATIENCE)
        assert self.child.exitcode == 0


class StoreWalk(RuleBasedStateMachine):
    """A learner in RAM beside one in a folder, and beside a dictionary {id: (row, label)}."""

    with_process = False

    @initialize(
        kind=st.sampled_from([*KINDS]),
        durability=st.sampled_from(["example", "batch"]),
        theirs=st.sampled_from(["example", "batch"]),
    )
    def begin(self, kind, durability, theirs):
        self.other = OtherProcess() if self.with_process else None
        self.folder = tempfile.mkdtemp(prefix="minout-walk-", dir=IN_MEMORY)
        self.settings = KINDS[kind]
        self.ram = Learner(**self.settings)
        self.disk = Learner.open(self.folder, durability=durability, **self.settings)
        self.reader = Learner.open(self.folder, read_only=True, **self.settings)
        if self.other is not None:
            self.other("open", self.folder, theirs, self.settings)
        self.known, self.number = {}, 0

    def both(self, here, *operation):
        """Do the same in RAM and in the folder, from this process or from the other."""
        wanted = perform(self.ram, operation)
        theirs = self.other is not None and not here
        found = self.other(*operation) if theirs else perform(self.disk, operation)
        assert found == wanted
        for gone in set(self.known) - set(self.ram.ids):
            del self.known[gone]
        return wanted

    @rule(
        row=st.lists(EIGHTHS, min_size=2, max_size=2),
        label=st.sampled_from("abc"),
        weight=st.sampled_from([1.0, 1.0, 2.0]),
        here=st.booleans(),
    )
    def teach(self, row, label, weight, here):
        self.number += 1
        example, _ = self.both(here, "teach", row, label, float(self.number), weight, None)
        if example in self.ram:
            self.known[example] = row, label

    @rule(
        rows=st.lists(st.lists(EIGHTHS, min_size=2, max_size=2), min_size=1, max_size=12),
        label=st.sampled_from("abc"),
        here=st.booleans(),
        refused=st.booleans(),
    )
    def teach_several(self, rows, label, here, refused):
        labels = [["a", "b", "c"][("abc".index(label) + i) % 3] for i in range(len(rows))]
        if refused:
            rows, labels = [*rows, [1.0]], [*labels, "a"]
        self.number += 1
        answer = self.both(here, "teach_many", rows, labels, float(self.number))
        if not refused:
            for (example, _), row, each in zip(answer, rows, labels, strict=True):
                if example in self.ram:
                    self.known[example] = row, each

    @precondition(lambda self: self.known)
    @rule(data=st.data(), label=st.sampled_from("abc"), here=st.booleans())
    def correct(self, data, label, here):
        example = data.draw(st.sampled_from([*self.known]))
        self.both(here, "correct", example, label)
        if example in self.known:
            self.known[example] = self.known[example][0], label

    @precondition(lambda self: self.known)
    @rule(data=st.data(), here=st.booleans())
    def forget(self, data, here):
        example = data.draw(st.sampled_from([*self.known]))
        self.both(here, "forget", [example])

    @precondition(lambda self: self.known)
    @rule(data=st.data(), here=st.booleans())
    def forget_class(self, data, here):
        label = data.draw(st.sampled_from(sorted({label for _, label in self.known.values()})))
        self.both(here, "forget_class", label)

    @precondition(lambda self: self.known)
    @rule(here=st.booleans(), name=st.sampled_from(["consolidate", "settle"]))
    def consolidate_or_settle(self, here, name):
        self.both(here, name)

    @rule(key=st.sampled_from("xy"), value=st.integers(0, 9), here=st.booleans())
    def note(self, key, value, here):
        self.both(here, "note", key, value)

    @rule(durability=st.sampled_from(["example", "batch"]))
    def open_again(self, durability):
        self.disk.close()
        self.disk = Learner.open(self.folder, durability=durability, **self.settings)
        if self.other is None:
            assert saved(self.disk) == saved(self.ram)

    @rule()
    def reload_the_reader(self):
        self.disk.flush()
        if self.other is not None:
            assert self.other("saved") == saved(self.ram)
        self.reader.reload()
        assert saved(self.reader) == saved(self.ram)
        assert not self.reader.reload()

    @rule()
    def flush_and_reload(self):
        if self.other is not None:
            self.other("flush")
        self.disk.flush()
        self.disk.reload()
        assert saved(self.disk) == saved(self.ram)

    @invariant()
    def the_bits_are_those_in_ram(self):
        if self.other is None:
            assert saved(self.disk) == saved(self.ram)
        assert {i: self.example(i) for i in self.ram.ids} == self.known

    def example(self, example):
        row, label = self.ram.example(example)
        return row.tolist(), label

    def teardown(self):
        if not hasattr(self, "known"):
            return
        if self.other is not None:
            self.other("close")
            self.other.end()
        self.disk.close()
        with Learner.open(self.folder, **self.settings) as last:
            assert saved(last) == saved(self.ram)
            assert last.ids == self.ram.ids == [*self.known] or not self.known
            if self.known:
                assert last.audit().ok
        self.reader.close()
        shutil.rmtree(self.folder)


class TwoProcesses(StoreWalk):
    """The same, with a second process that has the folder open."""

    with_process = True


@pytest.mark.parametrize(
    ("machine", "examples"), [(StoreWalk, 6), (TwoProcesses, 5)], ids=["one", "two processes"]
)
def test_any_walk_ends_with_the_same_bits(machine, examples, monkeypatch):
    monkeypatch.setattr(group_commit, "INTERVAL", 0.005)  # a process waits for the other's turn
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 0.01)
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=examples * (20 if LONG else 1), stateful_step_count=25),
    )
