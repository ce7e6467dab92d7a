"""Damaged and forged copies of a stored model: each must be noticed, harmless or a valid model.

noticed
    Opening it, or a call after that, raised one of our errors, with one sentence.
identical
    Predictions, scores, ids and misfits, and the same after one example is taught and one
    forgotten, are those of the undamaged model, bit for bit.
earlier
    Only for damaged copies of which a file is an earlier one, or whose write-ahead log is damaged:
    a state that was committed earlier, as after a crash.
plausible
    Only for forgeries, whose checksums are right: `audit()` lists differences, or the content is a
    valid other model, to the last bit what a learner becomes that is taught its examples.

Anything else is a problem: another exception, wrong answers; and a crash, a hang or too much memory
of the child process in which copies are opened.
"""

import copy
import hashlib
import re
import resource
import shutil
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minout import Learner
from minout.errors import MinoutError
from minout.store import read_archive, write_archive
from minout.upkeep import backup, check, read_log, repair

from . import damage, database_content, forge, forge_database

NOTICED, IDENTICAL, EARLIER, PLAUSIBLE = "noticed", "identical", "earlier", "plausible"
SECONDS = 60
"""A copy that takes longer hangs."""
LIMIT = 700_000_000
"""The bytes that a child can allocate beyond those that it has."""
SENTENCE = re.compile(r"[A-Z/`x][^\n]{1,600}[.]")


class Form(NamedTuple):
    """A form in which models are stored: a file or a folder.

    `read` returns metadata and arrays, and `write` stores them with right checksums. `open` leaves
    the path as it is. `containers` forge the form itself, `bombs` are small and would take much
    memory, and `upkeep` are calls that must end with a result or a sentence.
    """

    store: Callable[..., None]
    read: Callable[[Path], tuple[dict[str, Any], dict[str, Any]]]
    write: Callable[..., None]
    open: Callable[[Path], Learner]
    containers: dict[str, Callable[..., Any]]
    bombs: dict[str, Callable[..., Any]]
    upkeep: tuple[Callable[[Path], Any], ...] = ()


def _store_folder(learner, path, rows):
    # Leave the files as a killed process does, with a write-ahead log; beside them the folders of
    # earlier states and of the same state after it was closed.
    work, label = path.with_name(f"{path.name}.closed"), learner.classes.tolist()[0]
    learner.store_in(work, durability="example")
    for number in range(2):
        shutil.copytree(work, path.with_name(f"{path.name}.earlier{number}"))
        learner.teach(rows[number], label, id=f"z{number}", at=1.7e9)
    shutil.copytree(work, path)
    learner.close()


def _scratch(path):
    # Opening changes the files of a folder, so it is done with a copy.
    scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix="scratch-"))
    for file in path.iterdir():
        shutil.copyfile(file, scratch / file.name)
    return scratch


def _compact(path):
    with Learner.open(path) as learner:
        learner.compact()


FILE = Form(
    store=lambda learner, path, _: learner.save(path),
    read=lambda path: read_archive(path, "minout model", 2),
    write=lambda path, about, arrays: write_archive(path, about, arrays, "The model"),
    open=Learner.load,
    containers={},
    bombs=forge.BOMBS,
)
FOLDER = Form(
    store=_store_folder,
    read=lambda path: database_content.read(_scratch(path)),
    write=database_content.write,
    open=lambda path: Learner.open(_scratch(path), durability="example"),
    containers=forge_database.KINDS,
    bombs={"many_regions": forge.many_regions, **forge_database.BOMBS},
    upkeep=(check, repair, read_log, _compact, lambda path: backup(path, path / "backup")),
)
FORMS = {"file": FILE, "folder": FOLDER}


def tried(form, make, rows, folder, count, seed):
    """Store a model, open so many copies of it, and return how often each word came, and problems.

    It is to be called in a child process: see `limited`.
    """
    source, found, problems = folder / "model", Counter(), []
    form.store(make(), source, rows)
    good = answers(form.open(source), rows)
    before = {answers(form.open(each), rows) for each in folder.glob("model.earlier*")}
    content = form.read(source)
    for number in range(count):
        rng, path = np.random.default_rng([seed, number]), folder / f"copy{number}"
        try:
            what, is_forged = _made(form, source, content, path, rng)
            with limited():
                word = _word(form, path, rows, (good, before), is_forged=is_forged)
                for call in form.upkeep[number % 3 :: 3]:
                    _kept_up(call, _scratch(path))
            found[word] += 1
        except _NoCopyError:
            continue
        except BaseException as error:
            problems.append(f"{number}, {what}: {type(error).__name__}: {str(error)[:300]}")
        finally:
            for each in (path, *folder.glob("scratch-*")):
                shutil.rmtree(each) if each.is_dir() else each.unlink(missing_ok=True)
    return found, problems


class _NoCopyError(Exception):
    """This kind of forgery does not apply to this model."""


def _made(form, source, content, path, rng):
    # Write a copy; return what was changed, and whether its checksums are right.
    if rng.random() < 0.35:
        return damage.damage(source, path, rng), False
    kinds = {**forge.KINDS, **form.containers, **form.bombs}
    name = list(kinds)[int(rng.integers(len(kinds)))]
    about, arrays = copy.deepcopy(content[0]), dict(content[1])
    try:
        if name in form.containers:
            return f"{name}: {kinds[name](about, arrays, path, rng)}", True
        what = kinds[name](about, arrays, rng)
        if what is None:
            raise _NoCopyError
        form.write(path, about, arrays)
    except ValueError:  # content that cannot be written
        raise _NoCopyError from None
    return f"{name}: {what}", True


def answers(learner, rows):
    """Return a digest of what a model says, and says after it was changed."""
    digest = hashlib.sha256()

    def ask():
        for part in (learner.predict(rows).astype(str), learner.scores(rows)):
            digest.update(part.tobytes())
        facts = (learner.misfits, learner.pending, learner.ids, learner.classes, learner.corrected)
        digest.update(repr(facts).encode())

    ask()
    learner.teach(rows[2], learner.classes.tolist()[0], id="one more", at=1_700_000_100.0)
    ask()
    learner.forget(learner.ids[0])
    ask()
    return digest.digest()


def _word(form, path, rows, known, *, is_forged):
    try:
        found = answers(form.open(path), rows)
    except MinoutError as error:
        _expect_sentence(error)
        return NOTICED
    if found == known[0]:
        return IDENTICAL
    if not is_forged:
        assert found in known[1], "wrong answers"
        return EARLIER
    other = form.open(path)
    if other.audit().ok:
        assert _taught_again(other) == _state(other), "not what is taught anew"
    else:
        _use(other)
    return PLAUSIBLE


def _kept_up(call, path):
    try:
        call(path)
    except MinoutError as error:
        _expect_sentence(error)


def _expect_sentence(error):
    assert SENTENCE.fullmatch(str(error)), f"no sentence: {error}"


def _use(learner):
    # Whatever its numbers are, calls must end with a result or a sentence.
    row = np.zeros(learner.example(learner.ids[0])[0].shape[0])
    calls = (
        learner.settle,
        lambda: learner.suspects(3),
        lambda: learner.explain(row),
        lambda: learner.what_if(row, learner.classes.tolist()[0]),
        learner.consolidate,
    )
    for call in calls:
        try:
            call()
        except MinoutError as error:
            _expect_sentence(error)


def _taught_again(learner):
    # The bits of a learner that is taught the examples of another.
    settings = {**vars(learner.settings)}
    window, blocks = settings.pop("keep"), settings.pop("blocks")
    settings.pop("window", None)
    memory = learner.memory or "auto"
    fresh = Learner(**settings, features=learner.features, memory=memory)
    fresh.set_blocks(blocks)
    for each in learner.ids:
        row, label = learner.example(each)
        row = row if learner.memory is None else learner.code(each)
        fresh.teach(row, label, id=each, weight=learner.weight(each), at=learner.time(each))
    fresh.set_keep(window)
    return _state(fresh)


def _state(learner):
    # The bits of a consolidated model, without what depends on how it came about.
    learner.consolidate()
    about, arrays = learner.__getstate__()["about"], learner.__getstate__()["arrays"]
    plain = {name: about[name] for name in ("settings", "choice", "ids", "labels")}
    return plain, {name: (each.shape, each.tobytes()) for name, each in arrays.items()}


class limited:  # noqa: N801, used as a function
    """Limit time and memory, and ignore warnings, during a `with` statement."""

    def __enter__(self):
        used = int(re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (used + LIMIT, resource.RLIM_INFINITY))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the child, also in a kernel
        signal.alarm(SECONDS)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")
        self._errors = np.seterr(all="ignore")

    def __exit__(self, *_):
        np.seterr(**self._errors)
        self._warnings.__exit__(None, None, None)
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)
