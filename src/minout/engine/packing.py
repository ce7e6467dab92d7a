"""Convert a state to named arrays and JSON, and back, without losing a bit.

Caches that can be computed again bit for bit (inner products) are left out.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Id, Ints
from minout.codecs import ExactCodec, described
from minout.engine.choice import Choice
from minout.engine.examples import Examples
from minout.engine.far import FarPairs, Support
from minout.engine.frame import Frame, Schedule
from minout.engine.images import Images
from minout.engine.moments import RunningMoments
from minout.engine.pool import Pool
from minout.engine.regions import Members, Regions
from minout.engine.separators import (
    NO_PLACES,
    NO_PRIOR,
    Separator,
    Separators,
    pair_count,
    pairs_between,
    regions_of_all,
)
from minout.engine.settings import Settings
from minout.engine.state import State, Widths
from minout.engine.validation import MEMORY, coded_with, validate
from minout.kernels import Factor, Sums
from minout.maths import NO_EXPANSION, Geometry, Prior

Arrays = dict[str, NDArray[Any]]

HATS = ("of", "left", "middle", "right", "height")
MISSING = {"fill": "fill", "of": "missing", "mark": "mark"}
"""Fields of an expansion: those of hat functions, and those of missing values by their names."""


def packed(state: State) -> tuple[dict[str, Any], Arrays]:
    """Return JSON-ready metadata and arrays from which `unpacked` restores the same state."""
    separators = state.separators
    pairs = pairs_with_weights(state)
    rows, pools = separators.rows_of(pairs), [separators.pools[pair] for pair in pairs]
    about = {
        **summary(state),
        "ids": list(state.ids),
        "corrected": [[key, list(state.corrected[key])] for key in _in_order(state)],
        "notes": state.notes,
    }
    arrays: Arrays = {
        **_examples(state.examples),
        "W": separators.W[rows],
        "b": separators.b[rows],
        **_joined("members", [members.places for members in state.regions.members]),
        **_joined("misfits", [separators.misfits[pair] for pair in pairs]),
        **_joined("pending", [separators.pending[pair] for pair in pairs]),
        **pool_arrays(pools, with_priors=separators.far is None),
    }
    left = np.array([separators.left.get(pair, 0) for pair in pairs], dtype=np.int64)
    if left.any():
        arrays["left"] = left
    if separators.far is not None:
        arrays["far.near"] = np.array(pairs, dtype=np.int64)
        arrays |= _far_supports(separators, separators.far)
    for name in SHARED:
        arrays |= shared(state, name)
    arrays["images"], arrays["images.of"] = state.frame.images.kept()
    return about, arrays


def summary(state: State) -> dict[str, Any]:
    """Return the metadata of a state that do not grow with its examples; without the notes."""
    frame, moments, schedule = state.frame, state.frame.moments, state.frame.schedule
    memory, codec = {}, state.examples.codec
    if codec is not None:
        memory = {"memory": {**described(codec)[0], "dtype": state.examples.dtype.name}}
    return {
        "settings": asdict(state.settings),
        "widths": list(state.widths),
        "next_id": state.next_id,
        "taught": state.taught,
        "labels": list(state.regions.labels),
        "choice": frame.choice._asdict(),
        "schedule": schedule._asdict(),
        "seen": moments.seen,
        "scattered": moments.scattered,
        "exact_sums": moments.exact,
        "stale_sums": moments.stale,
        "consolidated": state.consolidated,
        **memory,
    }


SHARED = ("sums", "scatter", "metric", "hats", "far", "memory")
"""The parts of a state that all separators, or all rows, share; see `shared`."""


SHARED_NAMES: dict[str, tuple[str, ...]] = {
    "sums": ("sums.shift", "sums.counts", "sums.rows", "sums.squares"),
    "scatter": ("sums.scatter", "sums.scatter.lower"),
    "metric": ("origin", "K", "K.lower", "precision", "precision.lower"),
    "hats": (*(f"hats.{name}" for name in HATS), *(f"missing.{name}" for name in MISSING)),
    "far": tuple(
        f"far.{name}"
        for name in (
            *("near_classes", "within", "mean", "V", "square", "half"),
            *("counts", "reach", "scale"),
        )
    ),
}
"""The arrays that a part may have; the part `memory` has those of a codec."""


def belongs_to(part: str, name: str) -> bool:
    """Return whether an array of this name may be in a shared part."""
    return name.startswith(MEMORY) if part == "memory" else name in SHARED_NAMES[part]


def shared(state: State, part: str) -> Arrays:
    """Return the arrays of one part of what all separators share; none if there are none."""
    moments, geometry, far = state.frame.moments, state.frame.geometry, state.separators.far
    arrays: Arrays = {}
    if part == "sums":
        sums = (moments.shift, moments.counts, moments.sums, moments.squares)
        names = ("shift", "counts", "rows", "squares")
        arrays = {f"sums.{name}": each for name, each in zip(names, sums, strict=True)}
    elif part == "scatter" and moments.scatter is not None:
        arrays = square("sums.scatter", moments.scatter)
    elif part == "metric":
        arrays = {"origin": geometry.origin, **square("K", geometry.K)}
        if geometry.precision is not None:
            arrays |= square("precision", geometry.precision)
    elif part == "hats":
        expansion = state.examples.expansion._asdict()
        if len(expansion["of"]):
            arrays = {f"hats.{name}": expansion[name] for name in HATS}
        if len(expansion["fill"]):
            arrays |= {f"missing.{name}": expansion[field] for name, field in MISSING.items()}
    elif part == "far" and far is not None:
        arrays = _discriminants(far)
    elif part == "memory" and state.examples.codec is not None:
        own = described(state.examples.codec)[1].items()
        arrays = {f"{MEMORY}{name}": each for name, each in own}
    return arrays


def _in_order(state: State) -> list[Id]:
    # The ids of corrected examples, in the order of teaching.
    serials = state.examples.serials
    return sorted(state.corrected, key=lambda each: int(serials[state.place_of[each]]))


def _examples(examples: Examples) -> Arrays:
    # A place that is not in use is blank; a step may be writing a new row there.
    end, free = examples.end, examples.free()
    arrays: Arrays = {
        "rows": examples.given[:end],
        "class": examples.regions[:end],
        "digest": examples.digests[:end],
        "stored": examples.stored[:end],
        "time": examples.times[:end],
        "serial": examples.serials[:end],
        "weight": examples.weights[:end],
    }
    if len(free):
        arrays = {name: array.copy() for name, array in arrays.items()}
        for name, array in arrays.items():
            array[free] = 1 if name == "weight" else 0
    if (arrays["weight"] == 1.0).all():
        del arrays["weight"]
    return arrays


@kernels.one_blas_thread()
def unpacked(about: Any, arrays: Arrays, codec: ExactCodec | None = None) -> State:
    """Return the state that was packed; raise MalformedError if the arguments are not valid.

    `codec` is the codec of the rows if it is the user's own, which is not packed.
    """
    codec = coded_with(about, arrays, codec)
    validate(about, arrays, codec)
    n = len(arrays["rows"])
    dtype = about["memory"]["dtype"] if codec is not None else arrays["rows"].dtype
    examples = Examples.of(
        arrays["rows"],
        arrays["class"],
        arrays["digest"],
        arrays["stored"],
        weights=arrays.get("weight", np.ones(n)),
        times=arrays["time"],
        serials=arrays["serial"],
        codec=codec,
        dtype=dtype,
    )
    expansion = NO_EXPANSION
    if "hats.of" in arrays:
        hats = {name: arrays[f"hats.{name}"] for name in HATS}
        expansion = expansion._replace(**hats)
    if "missing.fill" in arrays:
        missing = {field: arrays[f"missing.{name}"] for name, field in MISSING.items()}
        expansion = expansion._replace(**missing)
    examples = examples.expanded_by(expansion)
    state = State(Settings(**about["settings"]), examples.width, examples.dtype, codec)
    given, row = about["widths"]
    state.examples, state.ids, state.notes = examples, about["ids"], about["notes"]
    state.place_of = {state.ids[place]: place for place in examples.in_order().tolist()}
    state.widths, state.next_id = Widths(given, row), about["next_id"]
    state.taught = about["taught"]
    state.corrected = {example_id: tuple(labels) for example_id, labels in about["corrected"]}
    state.consolidated = about["consolidated"]
    members = [Members(places) for places in _parted("members", arrays)]
    state.regions = Regions(about["labels"], members)
    state.frame = _frame(about, arrays)
    state.separators = _separators(arrays, examples, state.regions.order.owner)
    return state


def _frame(about: dict[str, Any], arrays: Arrays) -> Frame:
    moments = RunningMoments(
        arrays["sums.shift"],
        arrays["sums.counts"],
        arrays["sums.rows"],
        arrays["sums.squares"],
        squared("sums.scatter", arrays),
        about["seen"],
        about["scattered"],
        about["exact_sums"],
        about["stale_sums"],
    )
    K = squared("K", arrays)
    assert K is not None
    geometry = Geometry(arrays["origin"], K, squared("precision", arrays))
    images = Images(geometry, arrays["images"].dtype)
    images.restore(arrays["images"], arrays["images.of"])
    at = about["schedule"]
    refresh_at, chosen_at, prior_at = at["refresh_at"], at["chosen_at"], at["prior_at"]
    schedule = Schedule(tuple(refresh_at), tuple(chosen_at), tuple(prior_at), at["choose_at"])
    return Frame(Choice(**about["choice"]), geometry, moments, schedule, images)


def _separators(arrays: Arrays, examples: Examples, owner: Ints) -> Separators:
    far = _unpacked_far(arrays) if "far.near" in arrays else None
    separators = Separators(examples.width, far)
    pairs = arrays["far.near"].tolist() if far is not None else pairs_between(owner)
    priors = _priors(arrays, pairs, far)
    pools = _unpooled(arrays, priors)
    misfits, pending = _parted("misfits", arrays), _parted("pending", arrays)
    room = len(pairs) if far is not None else pair_count(len(owner))
    separators.make_room(room, examples.end, put_all=True)
    for n, pair in enumerate(pairs):
        w, b = arrays["W"][n], float(arrays["b"][n])
        left = int(arrays["left"][n]) if "left" in arrays else 0
        new = Separator(w, b, pools[n], misfits[n], pending[n], left=left)
        separators.put(pair, new)
    if far is not None:
        for pair, places in zip(
            arrays["far.pairs"].tolist(), _parted("far.misfits", arrays), strict=True
        ):
            if len(places):
                separators.misfits[pair] = places
    for places in separators.misfits.values():
        separators.violations[places] += 1
    violating = np.flatnonzero(separators.violations[: examples.end])
    digests, counts = np.unique(examples.digests[violating], return_counts=True)
    separators.listed = dict(zip(digests.tolist(), counts.tolist(), strict=True))
    return separators


def pairs_with_weights(state: State) -> list[int]:
    """Return the numbers of the pairs whose separators have weights, ascending."""
    separators = state.separators
    return sorted(separators.pools) if separators.far else pairs_between(state.regions.order.owner)


def _discriminants(far: FarPairs) -> Arrays:
    m = far.count
    return {
        "far.near_classes": np.array([far.near_classes]),
        "far.within": np.array([far.within]),
        "far.mean": far.mean[:m],
        "far.V": far.V[:m],
        "far.square": far.square[:m],
        "far.half": far.half[:m],
        "far.counts": far.counts[:m],
        "far.reach": far.reach[:m],
        "far.scale": far.scale[np.tril_indices(m, -1)],
    }


def _far_supports(separators: Separators, far: FarPairs) -> Arrays:
    low, high = far.pairs_with_support()
    both = list(zip(low.tolist(), high.tolist(), strict=True))
    supports = [far.support(a, b) for a, b in both]
    numbers = high * (high - 1) // 2 + low
    bounds = [far.floor[low, high], far.floor[high, low], far.norm[low, high]]
    misfits = [separators.misfits.get(pair, NO_PLACES) for pair in numbers.tolist()]
    return {
        "far.pairs": numbers,
        **_joined("far.support", [support.places for support in supports]),
        "far.coef": _end_to_end([support.coef for support in supports]),
        "far.bounds": np.stack(bounds, axis=1),
        **_joined("far.misfits", misfits),
    }


def _unpacked_far(arrays: Arrays) -> FarPairs:
    m = len(arrays["far.half"])
    near_classes, within = int(arrays["far.near_classes"][0]), float(arrays["far.within"][0])
    far = FarPairs(arrays["far.V"].shape[1], near_classes, within)
    far.make_room(m, exactly=True)
    far.count = m
    for name in ("mean", "V", "square", "half", "counts", "reach"):
        getattr(far, name)[:] = arrays[f"far.{name}"]
    far.scale[np.tril_indices(m, -1)] = arrays["far.scale"]
    far.scale += far.scale.T
    low, high = regions_of_all(arrays["far.near"])
    far.near[low, high] = far.near[high, low] = True
    low, high = regions_of_all(arrays["far.pairs"])
    ends = np.cumsum(arrays["far.support.sizes"])[:-1]
    coefs = np.split(arrays["far.coef"], ends)
    bounds = arrays["far.bounds"]
    for a, b, places, coef in zip(
        low.tolist(), high.tolist(), _parted("far.support", arrays), coefs, strict=False
    ):
        far.put_support(a, b, Support(places, coef))
    far.floor[low, high], far.floor[high, low] = bounds[:, 0], bounds[:, 1]
    far.norm[low, high] = far.norm[high, low] = bounds[:, 2]
    return far


def pool_arrays(pools: Sequence[Pool], *, with_priors: bool) -> Arrays:
    """Return the arrays of some pools, end to end; warm-start data are numbered from 0."""
    arrays = {
        **_joined("pool", [pool.places for pool in pools]),
        "pool.signs": _end_to_end([pool.signs for pool in pools]).astype(np.int8),
        "pool.alpha": _end_to_end([pool.alpha for pool in pools]),
        "pool.idle": _end_to_end([pool.idle for pool in pools], np.int64),
    }
    if with_priors:
        arrays["prior.b"] = np.array([pool.prior.b for pool in pools])
        if any(pool.prior.w.any() for pool in pools):
            arrays["prior.W"] = np.array([pool.prior.w for pool in pools])
    for number, pool in enumerate(pools):
        factor, sums, u, departed = pool.saved_warm_start()
        if factor is not None:
            n = int(factor.size[0])
            arrays[f"factor.{number}"] = _lower(factor.L[:n, :n])
            arrays[f"factor.{number}.order"] = factor.order[:n]
        if sums is not None:
            arrays[f"newton.{number}.L"] = _lower(sums.U.T)
            arrays[f"newton.{number}.q"] = sums.q
            arrays[f"newton.{number}.inside"] = sums.inside
        if u is not None:
            arrays[f"newton.{number}.u"] = u
        if departed is not None:
            arrays[f"newton.{number}.departed"] = departed
    return arrays


def _priors(arrays: Arrays, pairs: list[int], far: FarPairs | None) -> list[Prior]:
    if far is not None:
        return [NO_PRIOR] * len(pairs)  # they are computed from the discriminants
    nothing = np.zeros(len(arrays["origin"]))
    W = arrays["prior.W"] if "prior.W" in arrays else [nothing] * len(pairs)
    return [Prior(w, b) for w, b in zip(W, arrays["prior.b"].tolist(), strict=True)]


def _unpooled(arrays: Arrays, priors: list[Prior]) -> list[Pool]:
    places = _parted("pool", arrays)
    bounds = np.cumsum([0, *(len(part) for part in places)])
    pools = []
    for number, own in enumerate(places):
        part = slice(bounds[number], bounds[number + 1])
        pools.append(
            Pool.restored(
                priors[number],
                own,
                arrays["pool.signs"][part].astype(np.float64),
                arrays["pool.alpha"][part],
                arrays["pool.idle"][part],
                _factor(arrays, number),
                _newton(arrays, number),
                arrays.get(f"newton.{number}.u"),
                arrays.get(f"newton.{number}.departed"),
            )
        )
    return pools


def _factor(arrays: Arrays, number: int) -> Factor | None:
    order = arrays.get(f"factor.{number}.order")
    if order is None:
        return None
    n = len(order)  # the next solve makes room for all members
    return Factor(_from_lower(arrays[f"factor.{number}"], n), order, np.array([n]))


def _newton(arrays: Arrays, number: int) -> Sums | None:
    half = arrays.get(f"newton.{number}.L")
    if half is None:
        return None
    q = arrays[f"newton.{number}.q"]
    U = np.ascontiguousarray(_from_lower(half, len(q)).T)
    return Sums(U, q, arrays[f"newton.{number}.inside"])


def square(name: str, A: Floats) -> Arrays:
    """Return a matrix as a named array: of a symmetric one, the lower half is enough."""
    if A.ndim == 2 and np.array_equal(A, A.T):
        return {f"{name}.lower": _lower(A)}
    return {name: A}


def squared(name: str, arrays: Arrays) -> Floats | None:
    """Return the matrix of that name; None if there is none."""
    half = arrays.get(f"{name}.lower")
    if half is None:
        return arrays.get(name)
    lower = _from_lower(half, len(arrays["origin"]))
    whole = lower + lower.T  # exact: one of the two is 0
    np.fill_diagonal(whole, lower.diagonal())
    return whole


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
