"""Blocks of columns that are scaled as one: the laws, an oracle, and how they are kept."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import minout.learner
from minout import InvalidInputError, Learner, engine
from minout.engine.state import Widths
from minout.errors import MissingDataError
from minout.store import read_archive, write_archive
from oracle import separators
from oracle.margin import (
    SETTINGS,
    by_label,
    differs,
    everything,
    loaded,
    model_bits,
    parts,
    saved,
    stream,
)

BLOCKS = ((1, 3), (3, 5))
SCALED = {name: each for name, each in SETTINGS.items() if each.get("standardize")}
KINDS = {
    **SCALED,
    "hats": {**SETTINGS["all"], "expand": 3},
    "regions": {**SETTINGS["all"], "regions": 2},
    "far": {**SETTINGS["all"], "near_classes": 1},
    "auto": SETTINGS["auto"],
}


def rows_of(seed=0, examples=40):
    """Return rows of six columns, of which the last is constant, and labels."""
    rows, labels = stream(seed, examples=examples, features=6, apart=0.5)
    return rows * [1.0, 4.0, 0.5, 1.0, 8.0, 0.0], labels.tolist()


def taught(blocks=(), rows=None, **settings):
    own, labels = rows_of()
    learner = Learner(**settings)
    learner.teach_many(own if rows is None else rows, labels, at=0.0)
    learner.set_blocks(blocks)
    return learner


def consolidated(*args, **settings):
    learner = taught(*args, **settings)
    learner.consolidate()
    return learner


@pytest.mark.parametrize("blocks", [(), BLOCKS, ((0, 6),), ((4, 6),)], ids=str)
@pytest.mark.parametrize("kind", SCALED)
def test_separators_are_those_of_the_oracle(kind, blocks):
    rows, labels = rows_of()
    pins = {name: SETTINGS[kind][name] for name in ("standardize", "whiten", "lda_prior", "C")}
    wanted = separators.model(rows, labels, **pins, blocks=blocks)
    found = by_label(consolidated(blocks, **SETTINGS[kind]).inspect())
    assert set(found) == set(wanted.pairs)
    for pair, (w, b) in found.items():
        assert w == pytest.approx(wanted.pairs[pair].w, rel=1e-6, abs=1e-7)
        assert b == pytest.approx(wanted.pairs[pair].b, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_of_one_column_is_the_same_as_none(kind):
    single = consolidated([(0, 1), (3, 4), (5, 6)], **KINDS[kind])
    assert model_bits(single) == model_bits(consolidated(**KINDS[kind]))


@pytest.mark.parametrize("kind", [*SCALED, "hats", "regions", "far"])
def test_the_unit_of_a_block_does_not_matter(kind):
    rows, _ = rows_of()
    other = rows * [1.0, 1e-3, 1e-3, 64.0, 64.0, 1.0]
    one, two = (consolidated(BLOCKS, rows=each, **KINDS[kind]) for each in (rows, other))
    assert two.scores(other) == pytest.approx(one.scores(rows), rel=1e-6, abs=1e-7)
    assert not np.allclose(consolidated(**KINDS[kind]).scores(rows), one.scores(rows), atol=0.01)


@pytest.mark.parametrize("kind", ["plain", "lda"])
def test_blocks_change_nothing_where_columns_are_not_standardized(kind):
    with_blocks = consolidated(BLOCKS, **SETTINGS[kind])
    assert model_bits(with_blocks) == model_bits(consolidated(**SETTINGS[kind]))


def test_columns_of_a_block_have_no_hats_and_do_not_count_against_those_of_others():
    rng = np.random.default_rng(0)
    rows, text = rng.normal(size=(150, 2)), rng.normal(size=(150, 60)) / 60
    wide, labels = np.hstack([rows, text]), (np.abs(rows[:, 0]) > 0.7).tolist()
    labels = [int(each) for each in labels]
    learner = Learner(**{**SETTINGS["scaled"], "expand": "auto"})
    learner.teach_many(wide, labels, blocks=[(2, 62)], at=0.0)
    learner.consolidate()
    assert learner.choice.hats > 0
    expanded = learner.expanded(wide).shape[1]
    assert 62 + 1 < expanded <= 62 + 2 * learner.choice.hats
    learner.set_blocks([])
    learner.consolidate()
    assert learner.choice.hats == 0


@pytest.mark.parametrize("expand", ["auto", 3], ids=["auto", "set"])
def test_rows_that_are_one_block_have_no_hats(expand):
    learner = consolidated([(0, 6)], **{**SETTINGS["all"], "expand": expand})
    assert learner.expanded(rows_of()[0]).shape[1] == 6
    assert learner.choice.hats in learner.settings.hat_counts()
    assert differs(saved(loaded(saved(learner))), saved(learner)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_after_consolidating_it_does_not_matter_when_blocks_were_set(kind):
    rows, labels = rows_of()
    early = Learner(**KINDS[kind])
    early.set_blocks(BLOCKS)
    early.teach_many(rows, labels, at=0.0)
    first = Learner(**KINDS[kind])
    first.teach_many(rows, labels, at=0.0, blocks=BLOCKS)
    assert differs(saved(early), saved(first)) == []
    early.consolidate()
    assert differs(saved(early), saved(consolidated(BLOCKS, **KINDS[kind]))) == []


def test_blocks_take_effect_at_a_refresh():
    rows, labels = rows_of(examples=64)
    learner = Learner(**SETTINGS["scaled"])
    learner.teach_many(rows, labels, at=0.0)
    K = learner.inspect().K
    learner.set_blocks(BLOCKS)
    assert (learner.inspect().K == K).all()
    learner.teach_many(rows + 0.25, labels, at=0.0)
    K = learner.inspect().K
    assert K[1] == K[2] != K[3] == K[4]
    assert learner.audit().ok


def test_without_blocks_a_file_has_none():
    learner = taught(BLOCKS, **SETTINGS["all"])
    assert parts(saved(learner))["about.settings"]["blocks"] == [[1, 3], [3, 5]]
    learner.set_blocks([])
    assert learner.settings == Learner(**SETTINGS["all"]).settings
    assert "blocks" not in parts(saved(learner))["about.settings"]


def in_folder(learner, tmp_path):
    learner.store_in(tmp_path / "model")
    learner.close()
    return Learner.open(tmp_path / "model")


KEPT = {
    "file": lambda learner, _: loaded(saved(learner)),
    "folder": in_folder,
    "pickle": lambda learner, _: pickle.loads(pickle.dumps(learner)),
    "copy": lambda learner, _: copy.deepcopy(learner),
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("is_new", [False, True], ids=["taught", "new"])
def test_blocks_are_kept(kept, is_new, tmp_path):
    rows, labels = rows_of()
    learner = Learner(**SETTINGS["all"]) if is_new else consolidated(BLOCKS, **SETTINGS["all"])
    learner.set_blocks(BLOCKS)
    twin = KEPT[kept](learner, tmp_path)
    assert twin.settings.blocks == BLOCKS
    fresh = consolidated(BLOCKS, **SETTINGS["all"])
    if is_new:
        twin.teach_many(rows, labels, at=0.0)
    twin.consolidate()
    assert model_bits(twin) == model_bits(fresh)
    twin.close()


def test_blocks_that_are_set_in_a_folder_are_committed(tmp_path):
    rows, labels = rows_of()
    with Learner.open(tmp_path / "model", **SETTINGS["all"]) as learner:
        learner.teach_many(rows, labels, at=0.0)
        learner.flush()
        reader = Learner.open(tmp_path / "model", read_only=True)
        assert reader.settings.blocks == ()
        learner.set_blocks(BLOCKS)
        learner.flush()
        assert reader.reload()
        assert reader.settings.blocks == BLOCKS
        reader.close()


def test_changes_keep_the_blocks():
    learner = taught(BLOCKS, **SETTINGS["all"])
    learner.forget([3, 4])
    learner.correct(5, 7)
    learner.set_keep(30)
    learner.widen(2)
    assert learner.settings.blocks == BLOCKS
    learner.consolidate()
    assert learner.settings.blocks == BLOCKS
    learner.forget(learner.ids)
    learner.teach([1.0] * 8, 0)
    assert learner.settings.blocks == BLOCKS


def test_new_columns_bring_their_block_or_nothing_changes(monkeypatch):
    rows, labels = rows_of()
    learner = Learner(**SETTINGS["all"])
    learner.teach_many(rows[:20, :3], labels[:20], at=0.0, blocks=[(1, 3)])
    before, step, taught_so_far = everything(learner), minout.learner.step, []

    def failing(state, example):
        taught_so_far.append(example)
        if len(taught_so_far) == 3:
            raise InvalidInputError("on purpose")
        return step(state, example)

    more = rows[20:, :5], labels[20:]
    with monkeypatch.context() as patch:
        patch.setattr(minout.learner, "step", failing)
        with pytest.raises(InvalidInputError, match="on purpose"):
            learner.teach_many(*more, at=0.0, widen=2, blocks=BLOCKS)
    assert everything(learner) == before
    learner.teach_many(*more, at=0.0, widen=2, blocks=BLOCKS)
    assert learner.settings.blocks == BLOCKS
    assert learner.inspect().K.shape == (5, 5)
    assert learner.audit().ok


def test_a_first_call_that_fails_sets_no_blocks():
    learner = Learner()
    with pytest.raises(InvalidInputError, match="two rows"):
        learner.teach_many([[1.0, 2.0]] * 2, [0, 1], ids=[1, 1], blocks=[(0, 2)])
    assert learner.settings.blocks == ()
    learner.teach_many(np.empty((0, 2)), [], blocks=[(0, 2)])
    assert learner.settings.blocks == ()


BAD = {
    "a number": 3,
    "a text": "ab",
    "a pair": (1, 3),
    "one end": [(1,)],
    "three ends": [(1, 2, 3)],
    "texts": [("1", "3")],
    "half a column": [(1.0, 3.0)],
    "truth": [(False, True)],
    "nothing": None,
    "empty": [(2, 2)],
    "turned round": [(3, 1)],
    "below 0": [(-1, 2)],
    "overlapping": [(1, 3), (2, 5)],
    "descending": [(3, 5), (1, 3)],
    "huge": [(0, 10**400)],
}


@pytest.mark.parametrize("blocks", BAD.values(), ids=BAD)
def test_what_are_no_blocks_is_refused_in_a_sentence(blocks):
    learner = taught(BLOCKS, **SETTINGS["scaled"])
    before = everything(learner)
    with pytest.raises(InvalidInputError, match=r"`blocks` must be pairs \(start, stop\)"):
        learner.set_blocks(blocks)
    assert everything(learner) == before


def test_blocks_that_do_not_fit_the_rows_are_refused():
    learner = taught(BLOCKS, **SETTINGS["scaled"])
    before, words = everything(learner), "ends at column 7, but rows have 6 columns"
    with pytest.raises(InvalidInputError, match=words):
        learner.set_blocks([(0, 7)])
    with pytest.raises(InvalidInputError, match="call `set_blocks`"):
        learner.teach_many([[1.0] * 6], [0], blocks=[(0, 6)])
    assert everything(learner) == before
    new = Learner()
    new.set_blocks([(0, 7)])
    for teach in (new.teach, lambda row, label: new.teach_many([row], [label])):
        with pytest.raises(InvalidInputError, match=words):
            teach([1.0] * 6, 0)
    assert new.is_new
    new.teach([1.0] * 7, 0)
    assert new.settings.blocks == ((0, 7),)


@pytest.mark.parametrize("blocks", [*BAD.values(), [(0, 7)]], ids=[*BAD, "too wide"])
def test_a_forged_file_with_other_blocks_is_refused(blocks, tmp_path):
    taught(BLOCKS, **SETTINGS["scaled"]).save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    assert about["state"]["settings"]["blocks"] == [[1, 3], [3, 5]]
    about["state"]["settings"]["blocks"] = blocks
    write_archive(tmp_path / "forged", about, arrays, "The model")
    with pytest.raises(MissingDataError):
        Learner.load(tmp_path / "forged")


@pytest.mark.parametrize("memory", ["uint4", "uint8"])
def test_blocks_are_columns_of_decoded_rows(memory):
    learner = consolidated(BLOCKS, **{**SETTINGS["scaled"], "memory": memory})
    K = learner.inspect().K
    assert K[1] == K[2] != K[3] == K[4]
    with pytest.raises(InvalidInputError, match="rows have 6 columns"):
        learner.set_blocks([(0, 7)])
    assert differs(saved(loaded(saved(learner))), saved(learner)) == []


def test_blocks_that_rescued_rows_are_too_short_for_are_dropped():
    rows, labels = rows_of()
    state = taught(**SETTINGS["scaled"])._state
    settings = replace(state.settings, blocks=((1, 3), (4, 9)))
    parts_of = state.examples, list(range(len(labels))), labels, Widths(6, 6)
    rescued = engine.rebuilt(settings, *parts_of)
    assert rescued.settings.blocks == ((1, 3),)
    assert (rescued.scores(rows) == consolidated([(1, 3)], **SETTINGS["scaled"]).scores(rows)).all()
