"""The choice of scale, metric, prior and C: a function of the set of rows, ties to the plainest."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import LONG
from minout import kernels, maths
from minout.core import choice
from minout.core.choice import (
    SHAPES,
    STRENGTHS,
    Choice,
    Options,
    choose,
    picked,
)
from minout.core.folds import FOLDS, Results, Shape, Table, sharpness
from minout.core.regions import region_count
from minout.core.table import distinct
from oracle import separators


def digests(X):
    return kernels.digests(np.ascontiguousarray(X))


def picked_of(X, labels):
    """Pick rows, with the means of all rows of each class."""
    means = [X[labels == c].mean(axis=0) if (labels == c).any() else X[0] for c in range(10)]
    first = distinct(digests(X), labels, np.ones(len(X))).first
    return first[picked(labels[first], np.array(means))]


def chosen(X, labels, shapes=SHAPES, strengths=STRENGTHS, blocks=(), **options):
    """Do what a learner does: pick rows, then choose by them."""
    marks, few = digests(X), picked_of(X, labels)
    table = Table(X[few], labels[few], marks[few], blocks=blocks)
    return choose(table, Options(shapes, strengths, **options))


def shape_and_strength(found):
    """Return the shape of a choice, and its C."""
    return Shape(*found[: len(Shape._fields)]), found.C


def blobs(seed, *, n=60, d=3, classes=2, apart=1.5):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return rng.normal(size=(n, d)) + apart * rng.normal(size=(classes, d))[labels], labels


def slow_choice(X, labels, shapes, strengths, blocks=()):
    """Cross-validate with separators from scratch, three folds by the digests."""
    at = {}
    if X.shape[1] < 4 * len(X):
        shapes = [shape for shape in shapes if shape.free_bias]
    for shape in shapes:
        fared = [slowly_fared(X, labels, shape, C, blocks=blocks) for C in strengths]
        best = plainest([probable for _, probable, _ in fared], by=0.005)
        at[shape] = strengths[best], *fared[best]
    means_alone = [shape for shape in shapes if shape.lda_prior and not shape.whiten]
    others = [shape for shape in shapes if shape not in means_alone] or means_alone
    best = others[plainest([np.clip(at[shape][1], -1.0, 1.0) for shape in others])]
    for shape in means_alone:
        more, less = at[shape][2], at[best][2]
        if plainest([less, more], by=0.005) == 1:
            best = shape
    return best, at[best][0]


def slowly_fared(X, labels, shape, C, regions=1, hats=0, blocks=()):
    """Return each held-out row's margin, and how probable its label is made; and all scores.

    The scores are of (division into folds, row).
    """
    rows = X - X.mean(axis=0)
    if shape.standardize:
        scale = rows.std(axis=0)
        for start, stop in blocks:
            scale[start:stop] = np.sqrt(np.square(rows[:, start:stop]).sum(axis=1).mean())
        rows = rows / scale
    scores, divisions = {}, 3 if len(X) <= 333 else 2 if len(X) <= 500 else 1
    for division, fold in itertools.product(range(divisions), range(FOLDS)):
        marks = [int.from_bytes(mark.ljust(16, b"\0")[8:], "little") for mark in digests(X)]
        train = np.array([(mark >> 7 + 11 * division) % FOLDS != fold for mark in marks])
        names = sorted(set(labels[train].tolist()))
        if train.all() or len(names) < 2:
            continue
        pins, mine = shape._replace(standardize=False)._asdict(), labels[train].tolist()
        ours = rows.copy()
        for start, stop in blocks if shape.standardize else ():
            weights = np.ones(len(mine))
            told = separators.told(rows[train, start:stop], mine, weights, len(mine))
            ours[:, start:stop] *= told
        table = with_hats(ours, ours[train], hats)
        parts = divided(table[train], mine, regions)
        units = table.shape[1] - sum(stop - start - 1 for start, stop in blocks)
        found = separators.model(table[train], mine, **pins, C=C, regions=parts, units=units)
        for i in np.flatnonzero(~train).tolist():
            scores[division, i] = dict.fromkeys(names, -np.inf)
            for part in set(parts):
                least = min(region_margins(found, table[i], part))
                scores[division, i][part[0]] = max(scores[division, i][part[0]], least)
    known = {key: each for key, each in scores.items() if int(labels[key[1]]) in each}
    least = np.full((divisions, len(X)), -1.0)
    for (division, i), each in known.items():
        least[division, i] = each[int(labels[i])]
    return least.mean(axis=0), probabilities(known, labels, divisions), known


def with_hats(rows, known, hats):
    """Return rows with hat functions, by interpolation between quantiles of the known ones."""
    columns = [*rows.T]
    for column, values in zip(rows.T, np.sort(known, axis=0).T, strict=True):
        at = [values[int(np.ceil(len(values) * k / (hats + 1))) - 1] for k in range(1, hats + 1)]
        at = sorted({values[0], *at, values[-1]})
        for left, middle, right in zip(at, at[1:], at[2:], strict=False):
            columns.append(np.interp(column, [left, middle, right], [0.0, values.std(), 0.0]))
    return np.array(columns).T


def divided(rows, labels, regions):
    """Return the region of each row, (label, number): clusters of the rows of each label."""
    found = [(label, 0) for label in labels]
    for name in set(labels):
        mine = [i for i, each in enumerate(labels) if each == name]
        count = region_count(len(mine), regions)
        numbers = maths.nearest(rows[mine], maths.centres(rows[mine], count))
        for i, number in zip(mine, numbers.tolist(), strict=True):
            found[i] = name, number
    return found


def region_margins(model, x, part):
    """Yield the margins of a row in a region."""
    for (a, b), each in model.pairs.items():
        if part in (a, b):
            f = each.w @ (x - model.origin) + each.b
            yield f if part == a else -f


def probabilities(scores, labels, divisions):
    """Return each row's share of its own class, where the labels are likeliest; else 0."""
    names = sorted(set(labels.tolist()))
    table = np.array([[each.get(name, -np.inf) for name in names] for each in scores.values()])
    own = np.array([names.index(int(labels[i])) for _, i in scores])
    is_own, known = np.eye(len(names), dtype=bool)[own], np.isfinite(table)
    doubt = 1.0 / (2.0 + len(scores))

    def log_shares(sharpness):
        raised = sharpness * table
        return raised - np.logaddexp.reduce(raised, axis=1, keepdims=True)

    def likelihood(sharpness):
        logs = log_shares(sharpness)
        others = np.where(known & ~is_own, logs, 0.0).sum(axis=1) / (known.sum(axis=1) - 1)
        return ((1.0 - doubt) * logs[is_own] + doubt * others).sum()

    low, high = 0.1, 100.0
    for _ in range(60):  # it has one peak
        third = (high - low) / 3.0
        if likelihood(low + third) < likelihood(high - third):
            low += third
        else:
            high -= third
    shares = np.zeros((divisions, len(labels)))
    shares[tuple(np.array([*scores]).T)] = np.exp(log_shares(low)[is_own])
    return shares.mean(axis=0)


def plainest(values, by=0.0):
    """Return the first that the best does not beat by more than `by` and two standard errors."""
    best = max(values, key=lambda each: each.mean())
    for i, each in enumerate(values):
        beaten = (best - each).mean()
        if beaten <= by or beaten <= 2.0 * (best - each).std() / np.sqrt(len(best)):
            return i
    raise AssertionError


def test_choice_is_that_of_a_plain_cross_validation():
    seen = set()
    for seed in range(6):
        X, labels = blobs(seed, n=90, classes=2 + seed % 2, apart=0.8)
        X = X @ np.array([[1.0, 0.9, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 1.0 + 5.0 * (seed % 3)]])
        few = picked_of(X, labels)
        found = shape_and_strength(chosen(X, labels))
        assert found == slow_choice(X[few], labels[few], SHAPES, STRENGTHS)
        seen.add(found)
    assert {shape.whiten for shape, _ in seen} == {True, False}
    assert {shape.standardize for shape, _ in seen} == {True, False}


def test_choice_for_wide_rows_is_that_of_a_plain_cross_validation():
    seen = set()
    for seed, rare in enumerate([20, 6, 6]):
        rng = np.random.default_rng(seed)
        labels = np.repeat([0, 1, 2], [20, rare, rare])
        X = rng.normal(size=(len(labels), 4 * len(labels)))
        X[np.arange(len(labels)), labels] += 6.0
        found = shape_and_strength(chosen(X, labels))
        few = picked_of(X, labels)
        assert found == slow_choice(X[few], labels[few], SHAPES, STRENGTHS)
        seen.add(found[0].free_bias)
        assert chosen(X[:, :-1], labels).free_bias
    assert False in seen


@pytest.mark.parametrize("d", [6, 40], ids=["columns", "products"])
def test_blocks_are_scaled_as_one_in_cross_validation(d):
    blocks, seen = ((1, d),), set()
    for seed in range(2):
        labels = np.arange(60) % 2
        X = np.random.default_rng(seed).normal(size=(60, d))
        X[:, 0] = 9.0 * (X[:, 0] + 2.0 * labels)
        X[:, 1:] *= 1.0 + np.arange(d - 1) % 3
        X[:, 1] += seed * labels
        few = picked_of(X, labels)
        scaled = tuple(shape for shape in SHAPES if shape.standardize)
        found = chosen(X, labels, shapes=scaled, blocks=blocks)
        slow = slow_choice(X[few], labels[few], scaled, STRENGTHS, blocks)
        assert shape_and_strength(found) == slow
        for shape in scaled:
            table = Table(X[few], labels[few], digests(X)[few], blocks=blocks)
            lams = (maths.stiffness(shape.free_bias) / 10.0,)
            parts = [fold.held_out(1, lams)[0] for fold in table.folds(0, shape)]
            margins = Results(parts, table).margins
            wanted = slowly_fared(X[few], labels[few], shape, 5.0, blocks=blocks)[0]
            assert margins == pytest.approx(wanted, abs=1e-6)
            seen.add(shape)
    assert seen == set(scaled)


def test_knots_and_regions_are_those_of_a_plain_cross_validation(monkeypatch):
    seen, tried, few_tried = set(), set(), 0
    from_table = choice._tried
    monkeypatch.setattr(choice, "_tried", lambda *args: noted(from_table(*args), tried))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 2))
        kinds = [X[:, 0] + X[:, 1] > 0, np.abs(X[:, 0]) > 0.7, X[:, 0] * X[:, 1] > 0]
        labels = kinds[seed % 3].astype(int)
        few = picked_of(X, labels)
        forms = {"regions": (1, 2, 3), "hats": (0, 2, 5)}
        tried.clear()
        found = chosen(X, labels, shapes=(Shape(),), strengths=(5.0,), **forms)
        assert ((found.regions, found.hats), tried) == slow_form(X[few], labels[few], **forms)
        seen.add((found.regions > 1, found.hats > 0))
        few_tried += (1, 2) in tried and (1, 5) not in tried
    assert len(seen) > 2
    assert few_tried


def noted(forms, tried):
    """Add the regions and hats of forms to those that were tried."""
    tried.update((form.regions, form.hats) for form in forms)
    return forms


def slow_form(X, labels, regions, hats):
    """Choose regions and hats by cross-validation, plain shape, C = 5; return those tried, too."""
    probable, at = {}, {hats[0]: 0}
    going, waiting = [hats[0]], list(hats[1:])
    while going:
        for k in going:
            probable[regions[at[k]], k] = slowly_fared(X, labels, Shape(), 5.0, regions[at[k]], k)[
                1
            ]
        if probable[1, hats[0]].mean() > 1.0 - 1.0 / (2.0 + 3 * len(X)) - 0.001:
            break
        top, still = highest(probable.values()), []
        for k in going:
            mine = highest(each for (_, other), each in probable.items() if other == k)
            is_worse = beats(mine, probable[regions[at[k]], k], 2.0)
            is_behind = at[k] > 0 and beats(top, mine, 2.0)
            at[k] += 1
            if at[k] < len(regions) and not is_worse and not is_behind:
                still.append(k)
        before = hats[: len(hats) - len(waiting)]
        if waiting and not any(
            beats(probable[1, less], probable[1, more], 2.0)
            for less, more in itertools.pairwise(before)
        ):
            at[waiting[0]] = 0
            still.append(waiting.pop(0))
        going = still
    tried, straight = set(probable), probable.pop((1, 0))
    if not probable:
        return (1, 0), tried
    top = highest(probable.values())
    if not beats(top, straight, 2.0) or (top - straight).mean() <= 0.001:
        return (1, 0), tried
    alike = [
        form
        for form, each in probable.items()
        if not beats(top, each, 0.5) or (top - each).mean() <= 0.001
    ]
    return min(alike, key=lambda form: (1 + form[1]) * form[0] ** 2), tried


def highest(values):
    """Return the one with the highest mean."""
    return max(values, key=lambda each: each.mean())


def beats(more, less, errors):
    """Return whether a mean is higher by so many standard errors of the difference."""
    return (more - less).mean() > errors * (more - less).std() / np.sqrt(len(more))


def test_nothing_more_is_tried_where_labels_are_as_probable_as_can_be(monkeypatch):
    tried, from_table = set(), choice._tried
    monkeypatch.setattr(choice, "_tried", lambda *args: noted(from_table(*args), tried))
    forms = {"shapes": (Shape(),), "regions": (1, 2), "hats": (0, 2)}
    for apart, wanted in ((60.0, {(1, 0)}), (1.0, {(1, 0), (2, 0), (1, 2), (2, 2)})):
        X, labels = blobs(1, n=90, apart=apart)
        found = chosen(X, labels, **forms)
        assert tried == wanted
        assert (found.regions, found.hats) in tried


@settings(max_examples=100 if LONG else 8)
@given(st.integers(0, 99), st.randoms(use_true_random=False))
def test_choice_does_not_depend_on_the_order_of_rows(seed, random):
    X, labels = blobs(seed, apart=0.7)
    X = np.round(X * 4) / 4 if seed % 2 else X
    order = np.array(random.sample(range(len(X)), len(X)))
    keyed = {tuple(x): int(y) for x, y in zip(X, labels, strict=True)}  # one label for equal rows
    labels = np.array([keyed[tuple(x)] for x in X])
    assert chosen(X[order], labels[order]) == chosen(X, labels)


def test_copies_of_rows_change_no_choice():
    X, labels = blobs(3, apart=0.6)
    copies = np.repeat(np.arange(len(X)), np.arange(len(X)) % 4 + 1)
    assert chosen(X[copies], labels[copies]) == chosen(X, labels)


@pytest.mark.parametrize("apart", [0.0, 0.3, 5.0])
def test_shapes_that_are_as_good_are_decided_for_the_plainest(apart):
    labels = np.arange(60) % 2
    X = np.random.default_rng(5).normal(size=(60, 1)) + apart * labels[:, None]
    alike = (
        Shape(),
        Shape(standardize=True),
        Shape(whiten=True),
        Shape(standardize=True, whiten=True),
    )
    assert shape_and_strength(chosen(X, labels, shapes=alike))[0] == Shape()
    assert shape_and_strength(chosen(X, labels, shapes=alike[1:]))[0] == alike[1]


@pytest.mark.parametrize(("rows", "classes"), [(1, 3), (24, 3), (45, 5), (1_000, 8)])
def test_of_many_classes_the_first_by_digest_are_looked_at_until_there_are_enough_rows(
    rows, classes, monkeypatch
):
    for name, value in [("CLASSES", 3), ("ROWS", rows), ("ALIKE", 1)]:
        monkeypatch.setattr(choice, name, value)
    X, labels = np.random.default_rng(12).normal(size=(80, 2)), np.arange(80) % 8
    by_digest = labels[np.argsort(digests(X))]
    wanted = list(dict.fromkeys(by_digest.tolist()))[:classes]
    lowest = np.flatnonzero(np.isin(by_digest, wanted))[:rows]
    few = picked_of(X, labels)
    if rows == 1:
        assert not len(few)  # less than a row for each fold
    else:
        assert labels[few].tolist() == by_digest[lowest].tolist()


@pytest.mark.parametrize("shape", SHAPES[2:], ids=["plain", "scaled", "lda", "scaled lda", "means"])
def test_what_is_pinned_is_chosen(shape):
    X, labels = blobs(9)
    assert shape_and_strength(chosen(X, labels, shapes=(shape,), strengths=(0.2,))) == (shape, 0.2)
    assert shape_and_strength(chosen(X, labels, shapes=(shape,)))[0] == shape


@pytest.mark.parametrize("classes", [0, 1])
def test_without_two_classes_to_tell_apart_the_first_of_each_is_chosen(classes):
    X = np.arange(8.0).reshape(4, 2)[: 4 * classes]
    labels = np.zeros(len(X), dtype=int)
    table = Table(X, labels, digests(X))
    found = choose(table, Options(regions=(1, 2), hats=(0, 3)))
    assert found == Choice(*Shape(free_bias=classes > 0), C=STRENGTHS[0])  # no rows are wide


@pytest.mark.parametrize("size", [1e-160, 1e-100, 1e100])
def test_rows_of_any_size_can_be_chosen_by(size):
    X, labels = blobs(10, n=20)
    X = X / np.abs(X).max() * size
    assert chosen(X, labels).C in STRENGTHS


def test_the_sharpness_is_the_likeliest_of_parts_with_different_numbers_of_labels():
    rng = np.random.default_rng(5)
    parts = []
    for labels, clear in ((3, 0.2), (2, 3.0), (3, 0.2), (2, 3.0)):
        own = rng.integers(labels, size=40)
        scores = rng.normal(size=(40, labels)) + clear * (own[:, None] == np.arange(labels))
        parts.append((scores, own, rng.uniform(0.5, 2.0, 40)))
    doubt = 1.0 / (2.0 + 160)

    def likelihood(sharpness):
        total = 0.0
        for scores, own, weights in parts:
            for row, label, weight in zip(scores, own, weights, strict=True):
                logs = sharpness * row - np.log(np.exp(sharpness * row).sum())
                others = (logs.sum() - logs[label]) / (len(logs) - 1)
                total += weight * ((1.0 - doubt) * logs[label] + doubt * others)
        return total

    found = sharpness(parts).value
    near = [likelihood(found * factor) for factor in (0.99, 1.0, 1.01)]
    assert near[1] == max(near)
