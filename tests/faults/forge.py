"""Forgeries: right checksums over content that no model has, as metadata and arrays.

Every kind takes metadata (JSON), arrays and a random generator, and returns what it changed, or
None if it does not apply. It does not matter in which form they are written later.
"""

import numpy as np

FLOATS = [0.0, -0.0, -1.0, 1.0, 1e-300, 1e-9, 1e15, 1e101, 1e300, -1e300]
INTS = [0, 1, -1, 2, 10**6, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63)]
DEEP = 400


def extreme(about, arrays, rng):
    """Set one number of an array, or all, to an extreme value."""
    name, array = _pick(arrays, rng, "fiu")
    values = FLOATS if array.dtype.kind == "f" else INTS
    return _set(arrays, name, values[int(rng.integers(len(values)))], rng)


def not_finite(about, arrays, rng):
    """Set one number of an array, or all, to NaN or infinity."""
    name, _ = _pick(arrays, rng, "f")
    return _set(arrays, name, rng.choice([np.nan, np.inf, -np.inf]), rng)


def off_by_one(about, arrays, rng):
    """Move one whole number of an array, or all, by one or to the end of another array."""
    name, array = _pick(arrays, rng, "iu")
    if rng.random() < 0.3:
        ends = [len(about["state"]["labels"]), *(len(each) for each in arrays.values())]
        return _set(arrays, name, ends[int(rng.integers(len(ends)))] - int(rng.integers(2)), rng)
    step = 1 if rng.random() < 0.5 else -1
    with np.errstate(over="ignore"):
        moved = array + np.array(step, dtype=np.int64).astype(array.dtype)
    if rng.random() < 0.7 and array.size:
        which = np.arange(array.size).reshape(array.shape) == int(rng.integers(array.size))
        moved = np.where(which, moved, array)
    arrays[name] = moved
    return name


def scaled(about, arrays, rng):
    """Multiply an array of floats."""
    name, array = _pick(arrays, rng, "f")
    with np.errstate(over="ignore"):
        factor = rng.choice([-1.0, 1e-30, 1e30, 1.001, 2.0, 1e200])
        arrays[name] = (array * factor).astype(array.dtype)
    return name


def reordered(about, arrays, rng):
    """Shuffle or turn the numbers of an array."""
    name, array = _pick(arrays, rng, "fiub")
    turned = [array[::-1], np.roll(array, 1), rng.permutation(array.reshape(-1))]
    arrays[name] = np.ascontiguousarray(turned[int(rng.integers(3))]).reshape(array.shape)
    return name


def another_type(about, arrays, rng):
    """Give an array another dtype."""
    name, array = _pick(arrays, rng, "fiub")
    others = [">f8", "f4", "f2", ">i8", "i4", "i1", "u1", "u8", "?", "f8", "i8"]
    with np.errstate(all="ignore"):
        arrays[name] = array.astype(str(rng.choice(others)))
    return name


def another_shape(about, arrays, rng):
    """Give an array another shape."""
    name, array = _pick(arrays, rng, "fiub")
    shapes = [
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: np.concatenate([array, array[-1:]]),
        lambda: array[:0],
        lambda: array[..., None],
        lambda: array[None],
        lambda: array.reshape(-1),
        lambda: np.asfortranarray(array.T),
        lambda: array[..., :0],
        lambda: np.zeros((0, 2**40)).astype(array.dtype),
        lambda: np.zeros((5000, *array.shape[1:]), dtype=array.dtype),
        lambda: array.reshape(-1)[0] if array.size else array,
    ]
    arrays[name] = np.asarray(shapes[int(rng.integers(len(shapes)))]())
    return name


def missing(about, arrays, rng):
    """Leave an array out."""
    name, _ = _pick(arrays, rng, "fiub")
    del arrays[name]
    return name


def exchanged(about, arrays, rng):
    """Exchange two arrays."""
    a, _ = _pick(arrays, rng, "fiub")
    b, _ = _pick(arrays, rng, "fiub")
    arrays[a], arrays[b] = arrays[b], arrays[a]
    return f"{a}, {b}"


def fact(about, arrays, rng):
    """Replace a value of the metadata by an absurd one."""
    holder, key, path = _pick_fact(about, rng)
    others = [
        *(None, True, False, -1, 0, 1, 2, 10**6, 2**31, 2**63, 2**64, 10**400, 0.5, 1e308, -1e308),
        *(1e-308, float("nan"), float("inf"), "", "x", "auto", "all", "a\0", "\ud800", "x" * 10**5),
        *([], [1], [None], [[1, 2]], {}, {"a": 1}, _deep(), [0] * 10**5),
    ]
    holder[key] = others[int(rng.integers(len(others)))]
    return path


def nearby_fact(about, arrays, rng):
    """Move a number of the metadata a little, or change a text or a list a little."""
    holder, key, path = _pick_fact(about, rng)
    value = holder[key]
    if isinstance(value, bool) or value is None:
        holder[key] = not value
    elif isinstance(value, int | float):
        holder[key] = value + [1, -1, value][int(rng.integers(3))]
    elif isinstance(value, str):
        holder[key] = [value + "x", value[:-1], value.upper()][int(rng.integers(3))]
    elif isinstance(value, list):
        turned = [value[1:], value[::-1], value + value[:1], value + value]
        holder[key] = turned[int(rng.integers(4))]
    else:
        value["another"] = 1
    return path


def missing_fact(about, arrays, rng):
    """Leave a value of the metadata out."""
    holder, key, path = _pick_fact(about, rng)
    del holder[key]
    return path


def many_regions(about, arrays, rng):
    """Name thousands of regions: each pair of them would have a separator."""
    state, count = about["state"], int(rng.choice([3_000, 20_000]))
    known = state["labels"]  # those of the examples stay
    more = known[:1] * count
    if rng.random() < 0.5:
        more = [type(known[0])(1_000 + n) for n in range(count)]
    state["labels"], state["schedule"]["prior_at"] = known + more, [5] * (len(known) + count)
    if rng.random() < 0.5:
        arrays["members.sizes"] = np.ones(len(known) + count, dtype=np.int64)
    return f"{count} regions"


def many_hats(about, arrays, rng):
    """Expand short rows by thousands of hat functions."""
    if "far.near" in arrays or any(name.startswith(("newton", "factor")) for name in arrays):
        return None
    given, h = arrays["rows"].shape[1], 20_000
    wide = given + h
    for name in [each for each in arrays if each.startswith("hats.")]:
        del arrays[name]
    for name in ("K", "K.lower", "precision", "precision.lower", "sums.scatter"):
        arrays.pop(name, None)
    arrays.pop("sums.scatter.lower", None)
    for name in ("W", "prior.W", "origin", "sums.shift", "sums.squares", "sums.rows", "images"):
        if name in arrays:
            padding = np.zeros((*arrays[name].shape[:-1], wide), dtype=arrays[name].dtype)
            padding[..., :given] = arrays[name][..., :given]
            arrays[name] = padding
    arrays |= {
        "K": np.ones(wide),
        "hats.of": np.zeros(h, dtype=np.int64),
        "hats.left": np.zeros(h),
        "hats.middle": np.ones(h),
        "hats.right": np.full(h, 2.0),
        "hats.height": np.ones(h),
    }
    if rng.random() < 0.5:
        about["state"]["settings"]["expand"] = about["state"]["choice"]["hats"] = h
    return f"{h} hats"


def _pick(arrays, rng, kinds):
    names = [name for name, array in arrays.items() if array.dtype.kind in kinds]
    name = names[int(rng.integers(len(names)))]
    return name, arrays[name]


def _set(arrays, name, value, rng):
    array = arrays[name]
    with np.errstate(all="ignore"):
        filled = np.full_like(array, np.array(value).astype(array.dtype))
    if rng.random() < 0.7 and array.size:
        which = np.arange(array.size).reshape(array.shape) == int(rng.integers(array.size))
        filled = np.where(which, filled, array)
    arrays[name] = filled
    return f"{name} = {value}"


def _pick_fact(about, rng):
    # A random value: the deeper it lies, the longer the walk, so that all levels are reached.
    holder, path = about, []
    while True:
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = keys[int(rng.integers(len(keys)))]
        path.append(str(key))
        value = holder[key]
        if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
            return holder, key, ".".join(path)
        holder = value


def _deep():
    value = []
    for _ in range(DEEP):
        value = [value]
    return value


KINDS = {
    each.__name__: each
    for each in (
        *(extreme, not_finite, off_by_one, scaled, reordered, another_type, another_shape),
        *(missing, exchanged, fact, nearby_fact, missing_fact),
    )
}
BOMBS = {each.__name__: each for each in (many_regions, many_hats)}
"""Small models that would take much memory."""
