"""Read NPZ: the arrays X, y and ids of one file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files.columns import ReadOptions, check_nameless, join_names
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.opening import unreadable
from minout.streams.files.values import parse_id, parse_label

Arrays = dict[str, NDArray[Any]]


def open_npz(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read X (n, d), and y and ids (n,) if present; `label` and `id` may name other arrays.

    X may be images, (n, height, width) or (n, height, width, channels); they are flattened.
    """
    arrays = _arrays(path, source)
    if "X" not in arrays:
        raise InvalidInputError(
            f"{source} has no array X; its arrays are: {join_names([*arrays])}. Save the rows as X."
        )
    X = arrays["X"]
    if X.dtype.kind not in "fiub" or X.ndim not in (2, 3, 4):
        raise InvalidInputError(
            f"X in {source} is {X.dtype} of shape {X.shape}; it must be numbers, (rows, columns)."
        )
    if not X.size:
        raise InvalidInputError(f"{source} is empty; X needs rows and columns.")
    shape = X.shape[1:] if X.ndim > 2 else None
    X = X.reshape(len(X), -1)
    check_nameless(source, X.shape[1], options)
    label = None
    if options.reads_labels:
        label = _array_name(arrays, source, options.label, "y", options)
    id = _array_name(arrays, source, options.id, "ids", options)
    y, ids = (_values(arrays, source, name, len(X)) for name in (label, id))
    done = [0]
    return Reader(
        source,
        _examples(X, y, ids, source, options, done),
        lambda: None,
        lambda: done[0] / len(X),
        label=label,
        id=id,
        image_shape=shape,
    )


def _arrays(path: Path, source: str) -> Arrays:
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise InvalidInputError(f"{source} holds one array; save X and y with np.savez.")
            arrays = {name: loaded[name] for name in loaded.files}
        if not all(isinstance(each, np.ndarray) for each in arrays.values()):
            raise ValueError("not an array")
        return arrays
    except InvalidInputError:
        raise
    except MemoryError:
        raise MissingDataError(
            f"{source} is damaged, or too large for the memory of this machine; write or copy it "
            "again, or in parts."
        ) from None
    except ValueError:
        raise MissingDataError(
            f"{source} is not an NPZ file of plain arrays; save numbers and strings, no objects."
        ) from None
    except OSError as error:
        raise unreadable(source, error) from None
    except Exception:  # readers of zip and npy raise many types on damaged files
        raise MissingDataError(
            f"{source} is not an NPZ file, or it is damaged; write or copy it again."
        ) from None


def _array_name(
    arrays: Arrays, source: str, name: str | None, usual: str, options: ReadOptions
) -> str | None:
    if name is not None and name in arrays:
        return name
    if name is None or name in options.optional:
        return usual if usual in arrays else None
    raise InvalidInputError(
        f"{source} has no array {name!r}; its arrays are: {join_names([*arrays])}."
    )


def _values(arrays: Arrays, source: str, name: str | None, rows: int) -> list[Any] | None:
    if name is None:
        return None
    array = arrays[name]
    if array.shape != (rows,):
        raise InvalidInputError(
            f"{name} in {source} has shape {array.shape}, but X has {rows} rows."
        )
    if array.dtype.kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise InvalidInputError(
                f"{name} in {source} holds bytes that are not UTF-8; save strings."
            ) from None
    values: list[Any] = array.tolist()
    return values


def _examples(
    X: NDArray[Any],
    y: list[Any] | None,
    ids: list[Any] | None,
    source: str,
    options: ReadOptions,
    done: list[int],
) -> Iterator[Example]:
    for number in range(1, len(X) + 1):
        done[0] = number
        if number < options.from_line:
            continue
        row = X[number - 1].astype(np.float64)
        where = f"row {number}"
        try:
            finite = np.isfinite(row)
            if not finite.all():
                column = int(np.argmin(finite))
                raise InvalidInputError(
                    f"column {column} holds {row[column]}, which is not a finite number; "
                    "fill it in, or take the row out."
                )
            label = None if y is None else parse_label(y[number - 1])
            id = None if ids is None else parse_id(ids[number - 1])
        except InvalidInputError as error:
            options.refuse(BadRowError(source, where, str(error), number + 1))
            continue
        yield Example(row, label, id, number, where)
