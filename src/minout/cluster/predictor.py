"""Predict batches of columns, as Ray Data passes them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from minout.errors import InvalidInputError, some
from minout.features import FeatureMap
from minout.learner import Learner


class Predictor:
    """A model for `map_batches` of Ray Data, read from its file once in each worker.

    A batch is a mapping of column names to arrays of equally many values. It comes back with two
    more columns, "predicted" and "probability". A model of a table takes its columns by name; one
    of arrays takes the only column, or the one that is named.

    Parameters
    ----------
    model : str or Path
        A file that every worker can read.
    column : str, optional
        The column that holds the rows, for a model of arrays, texts or images.
    unknown : object, optional
        The label for rows whose scores are all 0 or less.
    features : FeatureMap or callable, optional
        See `Learner.load`.

    Examples
    --------
    >>> import tempfile
    >>> from minout import Learner
    >>> from minout.cluster import Predictor
    >>> file = tempfile.mkdtemp() + "/pets.minout"
    >>> with Learner.open(file) as learner:
    ...     reports = learner.teach_many([{"legs": 4}, {"legs": 2}], ["cat", "bird"])
    >>> found = Predictor(file)({"legs": [2, 4, 4]})
    >>> found["predicted"].tolist()
    ['bird', 'cat', 'cat']
    """

    def __init__(
        self,
        model: str | Path,
        *,
        column: str | None = None,
        unknown: Any = None,
        features: str | FeatureMap | Callable[[Any], Any] | None = None,
    ) -> None:
        self._learner = Learner.load(model, features)
        self._column, self._unknown = column, unknown

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the batch with what is predicted.

        Parameters
        ----------
        batch : mapping of str to array

        Returns
        -------
        dict of str to array
        """
        learner, X = self._learner, self._rows(batch)
        labels, best = learner.predict(X, unknown=self._unknown), learner.probabilities(X)
        return {**batch, "predicted": np.asarray(labels), "probability": best.max(axis=1)}

    def _rows(self, batch: Mapping[str, Any]) -> Any:
        named = self._learner.schema.columns
        if self._column is None and named is not None:
            known = [name for name in batch if name in named]
            values = (np.asarray(batch[name]).tolist() for name in known)
            return [dict(zip(known, each, strict=True)) for each in zip(*values, strict=True)]
        column = [self._column] if self._column is not None else list(batch)
        if len(column) != 1 or column[0] not in batch:
            raise InvalidInputError(
                f"Name the column that holds the rows as `column`; there are {some(batch)}."
            )
        return np.stack(list(batch[column[0]]))
