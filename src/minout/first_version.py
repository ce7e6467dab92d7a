"""Import a model file of version 1: its examples, from which everything else is computed again.

Such a file has the rows and labels of version 2 under the same names, older names of settings, no
weights and no times. Earlier labels of corrected examples are in the notes of the command line.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Id, Label
from minout.engine import Examples, MalformedError, Settings, State, Widths, rebuilt
from minout.errors import InvalidInputError, NotConverged

RENAMED = {"metric": "whiten", "prior": "lda_prior", "columns": "standardize"}
"""Settings that have another name now; `price` is 1/(2C)."""
CORRECTED = "corrected"
"""The note of the command line: ids, and a label that each had before."""
LARGEST = 1e100
"""The largest number that a learner accepts."""


class _Stored(NamedTuple):
    """The stored examples, in the order of teaching."""

    rows: NDArray[Any]
    digests: NDArray[Any]
    ids: list[Id]
    labels: list[Label]


def imported(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], dtype: Any) -> State:
    """Return a consolidated state with the examples, settings and notes of a file.

    Parameters
    ----------
    about : mapping
        The metadata of the file.
    arrays : mapping
        Its arrays.
    dtype : dtype
        That of the rows of its feature map.

    Raises
    ------
    MalformedError
        If the file was not written by minout.
    """
    settings, widths, notes = _settings(about.get("rule")), _widths(about), about.get("notes")
    following = about.get("next_id")
    _expect(type(following) is int and 0 <= following < 2**62, "next_id")
    _expect(isinstance(notes, dict), "notes")
    assert isinstance(notes, dict)
    assert isinstance(following, int)
    if "margin" not in about:
        _expect(widths.row is None and not arrays, "margin")
        state = State(settings, 0, dtype)
    else:
        stored = _stored(about["margin"], arrays)
        _expect(stored.rows.dtype == dtype and stored.rows.shape[1] == widths.row, "rows")
        state = _rebuilt(settings, stored, widths)
    state.next_id, state.notes = following, dict(notes)
    _move_corrected(state)
    return state


def _settings(rule: Any) -> Settings:
    names = {"price", "refresh", *RENAMED}
    _expect(isinstance(rule, dict) and set(rule) == names, "rule")
    price = rule["price"]
    is_number = type(price) in (int, float) and 0.0 < price < np.inf
    _expect(is_number or price == "auto", "rule")
    values = {new: rule[old] for old, new in RENAMED.items()}
    try:
        settings = Settings(refresh=rule["refresh"], **values)
        return replace(settings, C=1.0 / (2.0 * price)) if is_number else settings
    except InvalidInputError as error:
        raise MalformedError("rule") from error


def _widths(about: Mapping[str, Any]) -> Widths:
    lengths = about.get("lengths")
    _expect(isinstance(lengths, list) and len(lengths) == 2, "lengths")
    assert isinstance(lengths, list)
    _expect(all(each is None or (type(each) is int and each > 0) for each in lengths), "lengths")
    return Widths(*lengths)


def _stored(margin: Any, arrays: Mapping[str, NDArray[Any]]) -> _Stored:
    _expect(isinstance(margin, dict), "margin")
    ids, labels = margin.get("ids"), margin.get("labels")
    for names in (ids, labels):
        _expect(isinstance(names, list) and all(type(each) in (int, str) for each in names), "ids")
    _expect(len({type(each) for each in labels}) <= 1 and len(set(labels)) == len(labels), "labels")
    rows = arrays.get("rows", np.zeros(0))
    n = len(ids)
    _expect(rows.ndim == 2 and rows.dtype in (np.float32, np.float64) and len(rows) == n, "rows")
    shapes = {"class": np.int64, "digest": np.uint64, "stored": np.bool_}
    for name, dtype in shapes.items():
        array = arrays.get(name)
        _expect(array is not None and array.dtype == dtype and array.shape == (n,), name)
    places = np.flatnonzero(arrays["stored"])
    rows, classes = np.ascontiguousarray(rows[places]), arrays["class"][places]
    _expect(bool(((classes >= 0) & (classes < len(labels))).all()), "class")
    low, high = float(rows.min(initial=0.0)), float(rows.max(initial=0.0))
    _expect(low >= -LARGEST and high <= LARGEST, "rows")  # False for NaN, too
    digests = arrays["digest"][places]
    words = rows.view(f"u{rows.dtype.itemsize}")
    for n, digest in enumerate(digests.tolist()):
        _expect(int(kernels.digest(words[n])) == digest, "digest")
    names = [ids[place] for place in places.tolist()]
    _expect(len(set(names)) == len(names), "ids")
    return _Stored(rows, digests, names, [labels[c] for c in classes.tolist()])


def _rebuilt(settings: Settings, stored: _Stored, widths: Widths) -> State:
    n = len(stored.ids)
    examples = Examples.of(
        stored.rows,
        np.zeros(n, dtype=np.int64),
        stored.digests,
        np.ones(n, dtype=bool),
        weights=np.ones(n),
        times=np.zeros(n),
        serials=np.arange(n),
    )
    try:
        return rebuilt(settings, examples, stored.ids, stored.labels, widths)
    except NotConverged as error:
        raise InvalidInputError(
            "The numbers in this model differ too much in size to be separated in double precision."
        ) from error


def _move_corrected(state: State) -> None:
    # From the notes to where they are now; of examples that are stored, and not their own label.
    noted = state.notes.pop(CORRECTED, [])
    _expect(isinstance(noted, list), CORRECTED)
    found: dict[Id, tuple[Label, ...]] = {}
    for each in noted:
        _expect(isinstance(each, list) and len(each) == 2, CORRECTED)
        id, label = each
        _expect(type(id) in (int, str) and type(label) in (int, str), CORRECTED)
        if id in state.place_of:
            now = state.label_at(state.place_of[id])
            _expect(type(now) is type(label), CORRECTED)
            if label not in (now, *found.get(id, ())):
                found[id] = (*found.get(id, ()), label)
    state.corrected = {id: found[id] for id in state.place_of if id in found}


def _expect(condition: bool, name: str) -> None:
    if not condition:
        raise MalformedError(name)
