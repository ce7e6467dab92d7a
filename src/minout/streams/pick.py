"""Draw a small data set from a large one: a number of rows per class."""

import numpy as np

from minout.errors import InvalidInputError
from minout.streams.data import Data, checked


def pick_per_class(data: Data, count: int, rng: np.random.Generator) -> Data:
    """Draw rows of each class from the training part, without replacement.

    Parameters
    ----------
    data : Data
        A data set.
    count : int
        The number of rows per class.
    rng : numpy.random.Generator
        Draws the rows.

    Returns
    -------
    Data
        Sorted by label, in random order within a class; the test part is copied.

    Raises
    ------
    InvalidInputError
        If a class has fewer rows.
    """
    if not isinstance(count, int | np.integer) or count < 1:
        raise InvalidInputError(
            f"{count} rows per class were asked for; ask for a whole number from 1 on."
        )
    data = checked(data)
    labels, available = np.unique(data.labels, return_counts=True)
    if count > available.min():
        raise InvalidInputError(
            f"{count} rows per class were asked for, but class {labels[available.argmin()]} of "
            f"{data.name!r} has {available.min()}; ask for at most {available.min()}."
        )
    members = [np.flatnonzero(data.labels == label) for label in labels]
    drawn = np.concatenate([rng.permutation(each)[:count] for each in members])
    return data._replace(
        rows=data.rows[drawn],
        labels=data.labels[drawn],
        test_rows=data.test_rows.copy(),
        test_labels=data.test_labels.copy(),
    )
