"""What a learner tells of its stored examples and of itself."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import core
from minout._typing import Floats, Id, Label
from minout.api import Methods, in_order
from minout.codecs import Codes
from minout.core import Choice, Inspection, Sets
from minout.errors import InvalidInputError
from minout.inputs import Schema, is_integer, known_rows, like_known
from minout.steps import begun, is_stored, not_empty, place_of


class Views(Methods):
    """Rows, labels, weights and times of stored examples, and the parts of a model."""

    def example(self, id: Id) -> tuple[Floats, Label]:
        """Return a copy of a stored row, as the feature map or the encoder made it, and its label.

        With `memory` it is the decoded row. A codec of your own may give the decoded row another
        code than the stored one; to pass the stored example to a method, use `code`.

        Parameters
        ----------
        id : int or str

        Returns
        -------
        (ndarray of shape (d,), label)
            The row and its label, as the learner stores it.
        """
        state = begun(self._state)
        place = place_of(state, id)
        return state.row_at(place).copy(), state.label_at(place)

    def code(self, id: Id) -> Codes:
        """Return the code of a stored example, which every method takes in place of its row.

        Parameters
        ----------
        id : int or str

        Returns
        -------
        Codes
            Its code; `np.asarray` of it is an array of uint8, shape (bytes,).

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner(memory="uint8")
        >>> reports = learner.teach_many([[1.0, 0.1], [0.0, 9.0]], ["cat", "dog"], ids=["a", "b"])
        >>> learner.explain(learner.code("a")).label, learner.example("a")[0].tolist()
        ('cat', [1.0, 0.1015625])
        """
        state = begun(self._state)
        if state.examples.codec is None:
            raise InvalidInputError('Rows are stored as they are: `memory` is "auto".')
        return Codes(state.examples.given[place_of(state, id)])

    def weight(self, id: Id) -> float:
        """Return the weight of a stored example.

        Parameters
        ----------
        id : int or str

        Returns
        -------
        float
        """
        state = begun(self._state)
        return float(state.examples.weights[place_of(state, id)])

    def time(self, id: Id) -> float:
        """Return the time of a stored example, in seconds since 1970.

        Parameters
        ----------
        id : int or str

        Returns
        -------
        float
        """
        state = begun(self._state)
        return float(state.examples.times[place_of(state, id)])

    def label_probabilities(self) -> Floats:
        """Return the probability that the true label of each stored example is this or that.

        It takes the present label into account, and how often labels are wrong: see `label_errors`.

        Returns
        -------
        ndarray of shape (n_examples, n_classes)
            Rows are in the order of teaching, columns in the order of the labels. NaN where
            `label_errors` is not reliable.
        """
        return core.label_probabilities(not_empty(self._state))[1]

    def left_out_probabilities(self) -> Floats:
        """Return the label probabilities that each stored example has when it is left out.

        They do not take its label into account, as those from cross-validation do not. The only
        example of a label is not left out.

        Returns
        -------
        ndarray of shape (n_examples, n_classes)
            Rows are in the order of teaching, columns in the order of the labels.
        """
        return core.left_out_probabilities(not_empty(self._state))[1]

    def partition(self) -> dict[tuple[Label, Label], Sets]:
        """Return the paper's sets S1, S2 and S3 for each neuron that the last `teach` moved.

        The sets divide the stored examples by whether the move could change the output of a label;
        see `Sets`. The separator of two regions is one neuron in the unit of each. With several
        regions, all neurons of a label against another are taken together.

        Returns
        -------
        dict of (label, label) to Sets
            The key is the label of the neuron's unit and the label that the neuron separates it
            from.

        Raises
        ------
        InvalidInputError
            If the last call moved nothing, removed or relabelled examples, or computed everything
            again with other regions or columns, or for very many labels.
        """
        return core.partition(begun(self._state))

    def expanded(self, X: Any) -> Floats:
        """Return rows as the separators see them: with `expand`, followed by their hat functions.

        Parameters
        ----------
        X : batch of examples

        Returns
        -------
        ndarray of shape (n_rows, d)
            The rows of the examples, and the values of the hat functions, if any.
        """
        state = begun(self._state)
        return state.expanded(known_rows(X, state.schema, state))

    def regions(self) -> dict[Label, list[tuple[Id, ...]]]:
        """Return the ids of the examples in each region of each label.

        A label has several regions if its examples lie in several clusters: see the parameter
        `regions`. Each region has its own separators, and the score of the label is the highest
        score of its regions.

        Returns
        -------
        dict of label to list of tuple of id
            For each label, in order, its regions; of each, the ids of its examples.
        """
        state = self._state
        regions = state.regions
        return {
            label: [tuple(in_order(state, regions.members[c].places)) for c in regions.of(label)]
            for label in sorted(regions.names)
        }

    def find_id(self, text: str) -> Id | None:
        """Return the stored id that a text stands for, or None.

        "7" is the id "7" if that is stored, otherwise the number 7: examples that come without ids
        are numbered, and Python code may give numbers.

        Parameters
        ----------
        text : str

        Returns
        -------
        int, str or None
        """
        state = self._state
        if is_stored(state, text):
            return text
        return int(text) if is_integer(text) and is_stored(state, int(text)) else None

    def labels_of(self, labels: Iterable[Label]) -> list[Label]:
        """Return labels of a file as this learner knows them.

        They get the type of its labels: 7 for "7" if these are numbers, "7" for 7 if they are
        strings. "1" and "1.0" are one label; the spelling that came first stays.

        Parameters
        ----------
        labels : iterable of int or str
            Labels, such as the texts in a column of a CSV file.

        Returns
        -------
        list of int or str
            The labels to pass to `teach_many` and other methods.
        """
        return like_known(labels, self._state.labels)

    def inspect(self) -> Inspection:
        """Return a copy of the engine's internal state, for tests and benchmarks.

        Returns
        -------
        Inspection
            Not part of the stable interface: it may change with the engine.
        """
        return core.inspect(begun(self._state))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted: the order of the columns of `scores`."""
        return np.array(sorted(self._state.labels))

    @property
    def ids(self) -> list[Id]:
        """The ids of all stored examples, in the order in which they were taught."""
        state = self._state
        return list(state.names(state.examples.places()))

    @property
    def misfits(self) -> list[Id]:
        """The ids of the stored examples on the wrong side of a separator of their class.

        Of equal rows with two different labels at most one can be on the right side: both are
        listed.
        """
        state = self._state
        return in_order(state, state.misfits())

    @property
    def pending(self) -> list[Id]:
        """The ids of the stored examples that wait until a separator is solved again."""
        state = self._state
        return in_order(state, state.pending())

    @property
    def corrected(self) -> dict[Id, tuple[Label, ...]]:
        """The earlier labels of each stored example that was corrected."""
        return dict(self._state.corrected)

    @property
    def is_consolidated(self) -> bool:
        """Whether the model depends on the set of stored examples only; see `consolidate`."""
        return self._state.consolidated

    @property
    def is_new(self) -> bool:
        """Whether nothing has been taught yet."""
        return self._state.widths.row is None

    @property
    def choice(self) -> Choice:
        """The settings in use: chosen from the data, or set by the user."""
        return begun(self._state).choice

    @property
    def width(self) -> int | None:
        """The number of columns of an array; None if nothing was taught, or it has none."""
        return self._state.widths.given

    @property
    def schema(self) -> Schema:
        """What the model knows of its inputs: columns and their kinds, labels, files."""
        schema: Schema = self._state.schema
        return schema

    def __len__(self) -> int:
        """Return the number of stored examples."""
        return self._state.count

    def __contains__(self, id: Id) -> bool:
        """Return whether an id is stored."""
        return is_stored(self._state, id)
