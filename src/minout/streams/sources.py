"""One word or folder for each source of data."""

from pathlib import Path

from minout.streams.data import Data
from minout.streams.idx import mnist_folder
from minout.streams.openml import mnist_openml
from minout.streams.sample import mnist_sample
from minout.streams.sklearn_digits import digits


def load(source: Path | str | None = None) -> Data:
    """Loads "sample" (also None), "digits" or "openml"; all else is a folder of IDX files.

    A Path is always a folder, also Path("digits").

    >>> load("digits").rows.shape
    (1433, 64)
    """
    match source:
        case None | "sample":
            return mnist_sample()
        case "digits":
            return digits()
        case "openml":
            return mnist_openml()
        case _:
            return mnist_folder(Path(source))
