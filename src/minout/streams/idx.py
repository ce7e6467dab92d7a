"""MNIST from a folder of four IDX files, plain or gzipped."""

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.errors import MissingDataError, system_reason
from minout.streams.data import MNIST_LEVELS, Data, scaled

GZIP_MAGIC = b"\x1f\x8b"
UNSIGNED_BYTE = 8


def mnist_folder(folder: Path) -> Data:
    """Read MNIST, or a data set in its format, from a folder of four IDX files.

    Parameters
    ----------
    folder : Path
        Holds train-images, train-labels, t10k-images and t10k-labels under their standard names,
        with `-idx3-ubyte` or `.idx3-ubyte`, with or without `.gz`.

    Returns
    -------
    Data
        Named after the folder; rows are (n, height × width).

    Raises
    ------
    MissingDataError
        If a file is missing or damaged.
    """
    folder = Path(folder)
    rows, labels, shape = _part(folder, "train")
    test_rows, test_labels, test_shape = _part(folder, "t10k")
    if shape != test_shape:
        raise MissingDataError(
            f"The train images in {folder} have {shape[0]} × {shape[1]} pixels, but the t10k "
            f"images {test_shape[0]} × {test_shape[1]}; use four files of one data set."
        )
    return Data(folder.resolve().name, rows, labels, test_rows, test_labels, shape)


def _part(folder: Path, part: str) -> tuple[Floats, Ints, tuple[int, int]]:
    images_path = _find(folder, f"{part}-images", 3)
    labels_path = _find(folder, f"{part}-labels", 1)
    images, labels = _read(images_path, 3), _read(labels_path, 1)
    if len(images) != len(labels):
        raise MissingDataError(
            f"{labels_path} holds {len(labels)} labels for the {len(images)} images of "
            f"{images_path.name}; use two files of one data set."
        )
    count, height, width = images.shape
    rows = scaled(images.reshape(count, height * width), MNIST_LEVELS)
    return rows, labels.astype(np.int64), (height, width)


def _find(folder: Path, stem: str, dimensions: int) -> Path:
    names = [f"{stem}{joint}idx{dimensions}-ubyte" for joint in "-."]
    try:
        if not folder.is_dir():
            raise MissingDataError(
                f"There is no folder {folder}; pass a folder with the four IDX files of MNIST, "
                'or one of the words "sample", "digits" and "openml".'
            )
        for name in (*names, *(f"{name}.gz" for name in names)):
            if (folder / name).is_file():
                return folder / name
    except OSError as error:
        raise MissingDataError(
            f"{folder} could not be opened ({system_reason(error)}); "
            "pass a folder that you may read."
        ) from error
    raise MissingDataError(
        f"{folder} has no file {names[0]} or {names[0]}.gz; put the four IDX files of MNIST "
        'there, or pass one of the words "sample", "digits" and "openml".'
    )


def _read(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Return the bytes of one IDX file in the shape that its header announces."""
    content = _content(path)
    if content[:4] != bytes([0, 0, UNSIGNED_BYTE, dimensions]):
        what = "images" if dimensions == 3 else "labels"
        raise MissingDataError(
            f"{path} is not an IDX file of {what}; put the file of that name from MNIST there."
        )
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise MissingDataError(f"{path} ends inside its header; copy or download it again.")
    shape = struct.unpack(f">{dimensions}I", content[4:header])
    if len(content) != header + math.prod(shape):
        raise MissingDataError(
            f"{path} announces {header + math.prod(shape)} bytes, but holds {len(content)}; "
            "copy or download it again."
        )
    if math.prod(shape) == 0:
        raise MissingDataError(f"{path} is a valid IDX file, but empty; use one with examples.")
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)


def _content(path: Path) -> bytes:
    # Decided by the first bytes, not the name: browsers unpack a .gz without renaming it.
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP_MAGIC) else content
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise MissingDataError(
            f"{path} is a damaged gzip file; copy or download it again."
        ) from error
    except OSError as error:
        raise MissingDataError(
            f"{path} could not be read ({system_reason(error)}); check that you may read it."
        ) from error
