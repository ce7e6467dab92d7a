"""Blocks of columns that are scaled as one: the laws, an oracle, and how they are kept."""

import numpy as np
import pytest

from minout import InvalidInputError, Learner
from oracle import separators
from oracle.margin import (
    SETTINGS,
    by_label,
    differs,
    everything,
    model_bits,
    reloaded,
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


@pytest.mark.parametrize("kind", ["hats", "far", "auto"])
def test_a_block_of_one_column_is_the_same_as_none(kind):
    single = consolidated([(0, 1), (3, 4), (5, 6)], **KINDS[kind])
    assert model_bits(single) == model_bits(consolidated(**KINDS[kind]))


@pytest.mark.parametrize("kind", ["scaled", "hats", "regions", "far"])
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
    rows, text = rng.normal(size=(100, 2)), rng.normal(size=(100, 60)) / 60
    wide, labels = np.hstack([rows, text]), (np.abs(rows[:, 0]) > 0.7).tolist()
    labels = [int(each) for each in labels]
    learner = Learner(**{**SETTINGS["scaled"], "expand": "auto"})
    learner.set_blocks([(2, 62)])
    learner.teach_many(wide, labels, at=0.0)
    learner.consolidate()
    assert learner.choice.hats > 0
    expanded = learner.expanded(wide).shape[1]
    assert 62 + 1 < expanded <= 62 + 2 * learner.choice.hats
    learner.set_blocks([])
    learner.consolidate()
    assert learner.choice.hats == 0


def test_columns_are_standardized_if_a_block_tells_nothing():
    rng = np.random.default_rng(0)
    rows, chance = rng.normal(size=(300, 2)), rng.normal(size=(300, 250))
    learner = Learner()
    learner.set_blocks([(2, 252)])
    learner.teach_many(np.hstack([rows, 0.01 * chance]), (rows[:, 0] > 0.0).astype(int), at=0.0)
    learner.consolidate()
    assert learner.choice.standardize  # otherwise it would count


@pytest.mark.parametrize("kind", KINDS)
def test_after_consolidating_it_does_not_matter_when_blocks_were_set(kind):
    rows, labels = rows_of()
    early = Learner(**KINDS[kind])
    early.set_blocks(BLOCKS)
    early.teach_many(rows, labels, at=0.0)
    early.consolidate()
    assert differs(saved(early), saved(consolidated(BLOCKS, **KINDS[kind]))) == []


@pytest.mark.parametrize("is_new", [False, True], ids=["taught", "new"])
def test_blocks_are_kept_in_a_file(is_new):
    learner = Learner(**SETTINGS["all"]) if is_new else consolidated(BLOCKS, **SETTINGS["all"])
    learner.set_blocks(BLOCKS)
    twin, fresh = reloaded(learner), consolidated(BLOCKS, **SETTINGS["all"])
    assert twin.settings.blocks == BLOCKS
    if is_new:
        rows, labels = rows_of()
        twin.teach_many(rows, labels, at=0.0)
    twin.consolidate()
    assert model_bits(twin) == model_bits(fresh)


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
    assert everything(learner) == before
    new = Learner()
    new.set_blocks([(0, 7)])
    for teach in (new.teach, lambda row, label: new.teach_many([row], [label])):
        with pytest.raises(InvalidInputError, match=words):
            teach([1.0] * 6, 0)
    assert new.is_new
    new.teach([1.0] * 7, 0)
    assert new.settings.blocks == ((0, 7),)
