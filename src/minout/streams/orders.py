"""The order in which examples are taught: by label, shuffled, in disjoint or permuted tasks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.streams.data import Data, checked


class Stream(NamedTuple):
    """Examples in the order of teaching.

    Attributes
    ----------
    rows : ndarray of shape (n, d), float64, C-contiguous
        The examples.
    labels : ndarray of shape (n,), int64
        Their labels.
    tasks : ndarray of shape (n,), int64
        The number of the task that each belongs to, from 0.
    """

    rows: Floats
    labels: Ints
    tasks: Ints


class Permuted(NamedTuple):
    """A stream of permuted tasks.

    Attributes
    ----------
    stream : Stream
        The examples of all tasks.
    test_rows_per_task : ndarray of shape (tasks, n_test, d)
        The test rows with the permutation of each task; the labels are the same for all.
    """

    stream: Stream
    test_rows_per_task: Floats


def ordered(data: Data, *, descending: bool = False) -> Stream:
    """Sort by label (MNIST-ol); each label is a task.

    Parameters
    ----------
    data : Data
        A data set.
    descending : bool, default=False
        Start with the highest label.

    Returns
    -------
    Stream
        Within a label, examples keep the order of `data`.
    """
    data = checked(data)
    ranks = np.unique(data.labels, return_inverse=True)[1].astype(np.int64)
    tasks = ranks.max() - ranks if descending else ranks
    order = np.argsort(tasks, kind="stable")
    return Stream(data.rows[order], data.labels[order], tasks[order])


def shuffled(data: Data, rng: np.random.Generator) -> Stream:
    """Put all examples in random order, as one task.

    Parameters
    ----------
    data : Data
        A data set.
    rng : numpy.random.Generator
        Draws the order.

    Returns
    -------
    Stream
        All examples, in task 0.
    """
    data = checked(data)
    order = rng.permutation(len(data.labels))
    return Stream(data.rows[order], data.labels[order], np.zeros(len(order), dtype=np.int64))


def disjoint(data: Data, splits: Sequence[Sequence[int]], rng: np.random.Generator) -> Stream:
    """Take one subset of the labels after the other (Disjoint MNIST), shuffled within each.

    Parameters
    ----------
    data : Data
        A data set.
    splits : sequence of sequences of int
        The labels of each task; examples with other labels are left out.
    rng : numpy.random.Generator
        Draws the order within each task.

    Returns
    -------
    Stream
        One task per subset.

    Raises
    ------
    InvalidInputError
        If the subsets are empty, overlap, or name a label that `data` does not have.
    """
    data = checked(data)
    subsets = _disjoint_subsets(splits, known=set(data.labels.tolist()))
    orders = [rng.permutation(np.flatnonzero(np.isin(data.labels, each))) for each in subsets]
    order = np.concatenate(orders)
    tasks = np.repeat(np.arange(len(orders), dtype=np.int64), [len(each) for each in orders])
    return Stream(data.rows[order], data.labels[order], tasks)


def permuted(data: Data, tasks: int, rng: np.random.Generator) -> Permuted:
    """Repeat all examples once per task with permuted pixels (Permuted MNIST).

    Parameters
    ----------
    data : Data
        A data set.
    tasks : int
        The number of tasks. Task 0 has the pixels in their own order, each other task in a random
        order.
    rng : numpy.random.Generator
        Draws the permutations and the order within each task.

    Returns
    -------
    Permuted
        The stream, and the test rows of each task.

    Raises
    ------
    InvalidInputError
        If `tasks` is not a whole number, 1 or more.
    """
    if not isinstance(tasks, int | np.integer) or tasks < 1:
        raise InvalidInputError(
            f"{tasks} permuted tasks were asked for; ask for a whole number from 1 on."
        )
    data = checked(data)
    count, width = data.rows.shape
    rows = np.empty((tasks, count, width))
    labels = np.empty((tasks, count), dtype=np.int64)
    test_rows = np.empty((tasks, *data.test_rows.shape))
    for task in range(tasks):
        pixels = rng.permutation(width) if task else np.arange(width)
        order = rng.permutation(count)
        rows[task] = data.rows[np.ix_(order, pixels)]
        labels[task] = data.labels[order]
        test_rows[task] = data.test_rows[:, pixels]
    numbers = np.repeat(np.arange(tasks, dtype=np.int64), count)
    return Permuted(Stream(rows.reshape(-1, width), labels.ravel(), numbers), test_rows)


def _disjoint_subsets(splits: Sequence[Sequence[int]], known: set[int]) -> list[list[int]]:
    try:
        subsets = [list(each) for each in splits]
    except TypeError as error:
        raise InvalidInputError(
            f"The split {splits!r} is not a list of lists of labels; "
            "write it like [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]."
        ) from error
    if not subsets or not all(subsets):
        raise InvalidInputError(
            f"The split {subsets} has an empty subset or none; name at least one label in each."
        )
    named = [label for each in subsets for label in each]
    if unknown := [label for label in named if label not in known]:
        raise InvalidInputError(
            f"The split names {unknown[0]!r}, but the labels are {sorted(known)}; "
            "choose from these."
        )
    if len(set(named)) < len(named):
        raise InvalidInputError(
            f"The split {subsets} names a label more than once; give each label to one subset."
        )
    return subsets
