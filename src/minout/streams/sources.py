"""Load a data set by name or folder."""

from pathlib import Path

from minout.streams.data import Data
from minout.streams.idx import mnist_folder
from minout.streams.openml import mnist_openml
from minout.streams.sample import mnist_sample
from minout.streams.sklearn_digits import digits


def load(source: Path | str | None = None) -> Data:
    """Load a data set by name, or from a folder.

    Parameters
    ----------
    source : {"sample", "digits", "openml"}, str, Path or None
        The name of a data set (None is "sample"), or a folder of IDX files. A Path is always a
        folder, even Path("digits").

    Returns
    -------
    Data
        The data set.

    Examples
    --------
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
