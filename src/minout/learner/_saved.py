"""A margin learner as named arrays and words, and back, to the last bit.

What only saves time and can be made again with the same bits (inner products, sketches, earlier
activations) is left out. docs/format.md lists what is in a file.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Ints
from minout.kernels import Factor, Sums
from minout.learner._margin import Margin
from minout.learner._members import Members
from minout.learner._moments import RunningMoments
from minout.maths import Geometry, Prior
from minout.memory import RamMemory
from minout.rules import Choice, MarginRule, Pictures, Pool, Shape

Arrays = dict[str, NDArray[Any]]


def packed(margin: Margin) -> tuple[dict[str, Any], Arrays]:
    """Gives the words and the arrays from which `unpacked` makes the same learner."""
    memory, moments, end = margin.memory, margin.moments, margin.memory.end
    pairs = len(margin.pools)
    about = {
        "ids": margin.ids,
        "labels": margin.labels,
        "choice": {**margin.choice._asdict(), "shape": margin.choice.shape._asdict()},
        "refresh_at": margin.refresh_at,
        "chosen_at": margin.chosen_at,
        "prior_at": margin.prior_at,
        "seen": moments.seen,
        "scattered": moments.scattered,
        "exact_sums": moments.exact,
        "sketched": margin.sketch is not None,
    }
    arrays: Arrays = {
        "rows": memory.table[:end],
        "class": memory.labels_by_id(),
        "digest": memory.digests_by_id(),
        "stored": memory.alive(np.arange(end)),
        "W": margin.W[:pairs],
        "b": margin.b[:pairs],
        "sums.shift": moments.shift,
        "sums.counts": moments.counts,
        "sums.rows": moments.sums,
        "sums.squares": moments.squares,
        "origin": margin.geometry.origin,
        **_square("K", margin.geometry.K),
        **_joined("members", [members.places for members in margin.members]),
        **_joined("wrong", margin.wrong),
        **_pools(margin.pools),
    }
    if moments.scatter is not None:
        arrays |= _square("sums.scatter", moments.scatter)
    if margin.geometry.precision is not None:
        arrays |= _square("precision", margin.geometry.precision)
    arrays["images"], arrays["images.of"] = margin.pictures.kept()
    return about, arrays


@kernels.one_blas_thread()
def unpacked(rule: MarginRule, about: dict[str, Any], arrays: Arrays) -> Margin:
    """Makes the learner that was packed."""
    memory = RamMemory.restored(arrays["rows"], arrays["class"], arrays["digest"], arrays["stored"])
    margin = Margin(rule, memory)
    margin.ids = about["ids"]
    margin.place_of = {margin.ids[place]: place for place in memory.ids().tolist()}
    margin.labels = about["labels"]
    margin.class_of = {label: c for c, label in enumerate(margin.labels)}
    margin.members = [Members(places) for places in _parted("members", arrays)]
    pairs = len(arrays["b"])
    margin.W = _at_least_one_row(arrays["W"], memory.features)
    margin.b = arrays["b"] if pairs else np.zeros(1)
    choice = about["choice"]
    margin.choice = Choice(**{**choice, "shape": Shape(**choice["shape"])})
    margin.refresh_at = about["refresh_at"]
    margin.chosen_at = tuple(about["chosen_at"])
    margin.prior_at = about["prior_at"]
    margin.moments = RunningMoments.restored(
        arrays["sums.shift"],
        counts=arrays["sums.counts"],
        sums=arrays["sums.rows"],
        squares=arrays["sums.squares"],
        scatter=_squared("sums.scatter", arrays),
        seen=about["seen"],
        scattered=about["scattered"],
        exact=about["exact_sums"],
        dtype=memory.dtype,
    )
    K = _squared("K", arrays)
    assert K is not None
    margin.geometry = Geometry(arrays["origin"], K, _squared("precision", arrays))
    margin.pictures = Pictures(margin.geometry, memory.dtype)
    margin.pictures.restore(arrays["images"], arrays["images.of"])
    margin.pools = _unpooled(arrays, memory.features)
    margin.set_wrong(_parted("wrong", arrays))
    if about["sketched"]:
        margin.sketch_anew(memory.ids())
    return margin


def _pools(pools: Sequence[Pool]) -> Arrays:
    arrays = {
        **_joined("pool", [pool.places for pool in pools]),
        "pool.signs": _end_to_end([pool.signs for pool in pools]).astype(np.int8),
        "pool.alpha": _end_to_end([pool.alpha for pool in pools]),
        "pool.idle": _end_to_end([pool.idle for pool in pools], np.int64),
        "prior.b": np.array([pool.prior.b for pool in pools]),
    }
    if any(pool.prior.w.any() for pool in pools):
        arrays["prior.W"] = np.array([pool.prior.w for pool in pools])
    for number, pool in enumerate(pools):
        factor, sums, u = pool.carried()
        if factor is not None:
            n = int(factor.size[0])
            arrays[f"factor.{number}"] = _lower(factor.L[:n, :n])
            arrays[f"factor.{number}.order"] = factor.order[:n]
        if sums is not None:
            arrays[f"newton.{number}.H"], arrays[f"newton.{number}.q"] = sums.H, sums.q
            arrays[f"newton.{number}.inside"] = sums.inside
        if u is not None:
            arrays[f"newton.{number}.u"] = u
    return arrays


def _unpooled(arrays: Arrays, features: int) -> list[Pool]:
    places = _parted("pool", arrays)
    bounds = np.cumsum([0, *(len(part) for part in places)])
    nothing = np.zeros(features)
    pools = []
    for number, own in enumerate(places):
        part = slice(bounds[number], bounds[number + 1])
        w0 = arrays["prior.W"][number] if "prior.W" in arrays else nothing
        pools.append(
            Pool.restored(
                Prior(w0, float(arrays["prior.b"][number])),
                own,
                arrays["pool.signs"][part].astype(np.float64),
                arrays["pool.alpha"][part],
                arrays["pool.idle"][part],
                _factor(arrays, number, len(own)),
                _newton(arrays, number),
                arrays.get(f"newton.{number}.u"),
            )
        )
    return pools


def _factor(arrays: Arrays, number: int, members: int) -> Factor | None:
    order = arrays.get(f"factor.{number}.order")
    if order is None:
        return None
    n = len(order)
    L, places = np.zeros((members, members)), np.zeros(members, dtype=np.int64)
    L[:n, :n] = _from_lower(arrays[f"factor.{number}"], n)
    places[:n] = order
    return Factor(L, places, np.array([n]))


def _newton(arrays: Arrays, number: int) -> Sums | None:
    if f"newton.{number}.H" not in arrays:
        return None
    return Sums(*(arrays[f"newton.{number}.{name}"] for name in ("H", "q", "inside")))


def _square(name: str, A: Floats) -> Arrays:
    # Of a symmetric matrix one half is enough.
    if A.ndim == 2 and np.array_equal(A, A.T):
        return {f"{name}.lower": _lower(A)}
    return {name: A}


def _squared(name: str, arrays: Arrays) -> Floats | None:
    half = arrays.get(f"{name}.lower")
    if half is None:
        return arrays.get(name)
    lower = _from_lower(half, len(arrays["origin"]))
    lower += np.tril(lower, -1).T
    return lower


def _lower(A: Floats) -> Floats:
    return np.concatenate([A[i, : i + 1] for i in range(len(A))] or [np.empty(0)])


def _from_lower(half: Floats, n: int) -> Floats:
    out, start = np.zeros((n, n)), 0
    for i in range(n):
        out[i, : i + 1] = half[start : start + i + 1]
        start += i + 1
    return out


def _joined(name: str, parts: Sequence[Ints]) -> Arrays:
    # Lists of places end to end, and how long each is.
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    return {name: _end_to_end(parts, np.int64), f"{name}.sizes": sizes}


def _parted(name: str, arrays: Arrays) -> list[Ints]:
    ends = np.cumsum(arrays[f"{name}.sizes"])
    return [part.copy() for part in np.split(arrays[name], ends)[: len(ends)]]


def _end_to_end(parts: Sequence[NDArray[Any]], dtype: Any = np.float64) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


def _at_least_one_row(W: NDArray[Any], features: int) -> NDArray[Any]:
    return W if len(W) else np.zeros((1, features))
