"""Check that metadata and arrays from a file describe a state, before it is restored.

A file that passes its checksum was written by minout, or forged. Checked is what the engine and its
kernels rely on: names, types, shapes, and that the numbers of places and classes exist.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.engine.separators import pair_count

Arrays = Mapping[str, NDArray[Any]]

FINITE = ("rows", "W", "b", "origin", "pool.alpha")
"""Arrays that a state never has infinite numbers in; caches of unused rows may overflow."""


class MalformedError(ValueError):
    """The metadata and arrays do not describe a state."""


def validate(about: Any, arrays: Arrays) -> None:
    """Raise MalformedError unless `packed` could have returned these values."""
    _about(about)
    rows = _array(arrays, "rows", "f", 2)
    n, d = rows.shape
    _expect(rows.dtype in (np.float64, np.float32), "rows")
    classes, pairs = len(about["labels"]), pair_count(len(about["labels"]))
    for name, kind, shape in (
        ("class", "i", (n,)),
        ("digest", "u", (n,)),
        ("stored", "b", (n,)),
        ("W", "f", (pairs, d)),
        ("b", "f", (pairs,)),
        ("prior.b", "f", (pairs,)),
        ("origin", "f", (d,)),
        ("sums.shift", "f", (d,)),
        ("sums.squares", "f", (d,)),
    ):
        _expect(_array(arrays, name, kind, len(shape)).shape == shape, name)
    for name in ("K", "precision", "sums.scatter"):
        _square(arrays, name, d, required=name == "K")
    if "prior.W" in arrays:
        _expect(_array(arrays, "prior.W", "f", 2).shape == (pairs, d), "prior.W")
    counts = _array(arrays, "sums.counts", "f", 1)
    _expect(len(counts) <= classes, "sums.counts")
    _expect(_array(arrays, "sums.rows", "f", 2).shape == (len(counts), d), "sums.rows")
    _expect(len(about["ids"]) == n, "ids")
    stored = np.flatnonzero(arrays["stored"])
    _within(arrays["class"][stored], classes, "class")
    _lists(arrays, stored, classes, pairs)
    images, places = _array(arrays, "images", "f", 2), _array(arrays, "images.of", "i", 1)
    _expect(images.shape == (len(places), d) and images.dtype == rows.dtype, "images")
    _expect(bool(np.isin(places, stored).all() and (np.diff(places) > 0).all()), "images.of")
    _carried(arrays, d)


def _about(about: Any) -> None:
    _expect(isinstance(about, dict), "state")
    for name, kind in (
        ("settings", dict),
        ("ids", list),
        ("labels", list),
        ("corrected", list),
        ("choice", dict),
        ("schedule", dict),
        ("notes", dict),
        ("widths", list),
        ("sketched", bool),
        ("consolidated", bool),
        ("exact_sums", bool),
        ("next_id", int),
        ("seen", int),
        ("scattered", int),
    ):
        _expect(isinstance(about.get(name), kind), name)
    ids, labels = about["ids"], about["labels"]
    _expect(all(_is_name(each) for each in (*ids, *labels)), "ids")
    _expect(len({type(each) for each in labels}) <= 1, "labels")
    _expect(len(set(labels)) == len(labels), "labels")
    _expect(len(about["widths"]) == 2, "widths")
    _expect(all(each is None or isinstance(each, int) for each in about["widths"]), "widths")
    names = {"C", "whiten", "lda_prior", "standardize", "refresh"}
    _expect(set(about["settings"]) == names, "settings")
    choice, schedule = about["choice"], about["schedule"]
    switches = ("whiten", "lda_prior", "standardize")
    _expect(set(choice) == {"C", "sharpness", *switches}, "choice")
    _expect(all(isinstance(choice[name], bool) for name in switches), "choice")
    numbers = [choice[name] for name in ("C", "sharpness")]
    _expect(all(isinstance(each, int | float) and each > 0 for each in numbers), "choice")
    _expect(set(schedule) == {"refresh_at", "chosen_at", "prior_at"}, "schedule")
    chosen_at, prior_at = schedule["chosen_at"], schedule["prior_at"]
    _expect(isinstance(chosen_at, list) and len(chosen_at) == 2, "schedule")
    _expect(isinstance(prior_at, list) and len(prior_at) == len(labels), "schedule")
    times = (schedule["refresh_at"], *chosen_at, *prior_at)
    _expect(all(isinstance(each, int) for each in times), "schedule")
    for each in about["corrected"]:
        _expect(isinstance(each, list) and len(each) == 2 and _is_name(each[0]), "corrected")
        _expect(isinstance(each[1], list) and all(map(_is_name, each[1])), "corrected")


def _lists(arrays: Arrays, stored: NDArray[Any], classes: int, pairs: int) -> None:
    # Concatenated lists of places: members of each class, misfits and pool of each pair.
    for name, count in (("members", classes), ("misfits", pairs), ("pool", pairs)):
        places, sizes = _array(arrays, name, "i", 1), _array(arrays, f"{name}.sizes", "i", 1)
        _expect(len(sizes) == count, f"{name}.sizes")
        _expect(bool(((sizes >= 0) & (sizes <= len(places))).all()), f"{name}.sizes")
        _expect(int(sizes.sum()) == len(places), name)
        _expect(bool(np.isin(places, stored).all()), name)
    members, sizes = arrays["members"], arrays["members.sizes"]
    _expect(np.array_equal(np.sort(members), stored), "members")
    _expect(np.array_equal(arrays["class"][members], np.repeat(np.arange(classes), sizes)), "class")
    for name, kind in (("pool.signs", "i"), ("pool.alpha", "f"), ("pool.idle", "i")):
        _expect(len(_array(arrays, name, kind, 1)) == len(arrays["pool"]), name)
    _expect(bool((np.abs(arrays["pool.signs"]) == 1).all()), "pool.signs")


def _carried(arrays: Arrays, d: int) -> None:
    # The warm-start data of large pools.
    for pair, members in enumerate(arrays["pool.sizes"].tolist()):
        if f"factor.{pair}.order" in arrays:
            order = _array(arrays, f"factor.{pair}.order", "i", 1)
            _within(order, members, "factor")
            _expect(len(order) <= members, "factor")
            half = _array(arrays, f"factor.{pair}", "f", 1)
            _expect(len(half) == len(order) * (len(order) + 1) // 2, "factor")
        if f"newton.{pair}.H" in arrays:
            H, q = (_array(arrays, f"newton.{pair}.{name}", "f", k) for name, k in _HQ)
            _expect(H.shape == (d + 1, d + 1) and q.shape == (d + 1,), "newton")
            inside = _array(arrays, f"newton.{pair}.inside", "b", 1)
            _expect(len(inside) == members, "newton")
        if f"newton.{pair}.u" in arrays:
            _expect(len(_array(arrays, f"newton.{pair}.u", "f", 1)) == d + 1, "newton")


_HQ = (("H", 2), ("q", 1))


def _array(arrays: Arrays, name: str, kind: str, dimensions: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype.kind != kind or array.ndim != dimensions:
        raise MalformedError(name)
    if name in FINITE and not np.isfinite(array).all():
        raise MalformedError(name)
    if kind in "iu" and name != "pool.signs" and array.dtype.itemsize != 8:
        raise MalformedError(name)
    return array


def _square(arrays: Arrays, name: str, d: int, *, required: bool) -> None:
    # A matrix (d, d), its diagonal (d,), or its lower half.
    if f"{name}.lower" in arrays:
        _expect(len(_array(arrays, f"{name}.lower", "f", 1)) == d * (d + 1) // 2, name)
    elif name in arrays:
        array = _array(arrays, name, "f", arrays[name].ndim)
        _expect(array.shape in ((d,), (d, d)), name)
    else:
        _expect(not required, name)


def _within(numbers: NDArray[Any], end: int, name: str) -> None:
    _expect(bool(((numbers >= 0) & (numbers < end)).all()), name)


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _expect(condition: bool, name: str) -> None:
    if not condition:
        raise MalformedError(name)
