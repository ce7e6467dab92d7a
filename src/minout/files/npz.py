"""Read NPZ: the arrays X, y and ids of one file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError, MissingDataError
from minout.files.reader import Options, Reader, Row
from minout.files.text import unreadable
from minout.files.values import join_names

Arrays = dict[str, NDArray[Any]]


class NpzReader(Reader):
    """The rows X (n, d) of a file with labels y and ids (n,); the options may name other arrays.

    X may be images, (n, height, width) or (n, height, width, channels); they are flattened.
    """

    unit = "row"

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(str(path), options)
        arrays = _arrays(path)
        if "X" not in arrays:
            raise InvalidInputError(
                f"{path} has no array X; its arrays are: {join_names([*arrays])}. Save the rows as "
                "X."
            )
        X = arrays["X"]
        if X.dtype.kind not in "fiub" or X.ndim not in (2, 3, 4) or not X.size:
            raise InvalidInputError(
                f"X in {path} is {X.dtype} of shape {X.shape}; it must be numbers, (rows, columns)."
            )
        self.image_shape = X.shape[1:] if X.ndim > 2 else None
        self._X = X.reshape(len(X), -1)
        self._labels = _column(arrays, path, options.label, "y", len(X))
        self._ids = _column(arrays, path, options.id, "ids", len(X))
        self._done = 0

    @property
    def fraction_read(self) -> float | None:
        """The fraction of the rows that have been read."""
        return self._done / len(self._X)

    def rows(self) -> Iterator[Row]:
        """Yield each row."""
        for place, row in enumerate(self._X):
            self._done = place + 1
            label, id = self._labels[place], self._ids[place]
            yield Row(row.astype(np.float64), place + 1, label, id)


def _arrays(path: Path) -> Arrays:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except OSError as error:
        if error.errno is not None:
            raise unreadable(path, error) from None
    except Exception:  # readers of zip and npy raise many types on damaged files
        pass
    raise MissingDataError(
        f"{path} is damaged, or not an NPZ file of plain arrays; save X and y with np.savez, "
        "numbers and strings, no objects."
    )


def _column(arrays: Arrays, path: Path, name: str | None, usual: str, rows: int) -> list[Any]:
    """Return the values of an array, or None for each row if the usual one does not exist."""
    name = name if name in arrays else usual
    if name not in arrays:
        return [None] * rows
    array = arrays[name]
    if array.shape != (rows,):
        raise InvalidInputError(f"{name} in {path} has shape {array.shape}, but X has {rows} rows.")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    values: list[Any] = array.tolist()
    return values
