"""Recognise rows without ids that an earlier command has taught."""

from typing import Any

from minout._typing import Id
from minout.learner import Learner
from minout.streams.files import Label


class KnownRows:
    """The examples that a model had before a file was read; each matches one equal row of the file.

    So learning a file twice changes nothing, and of a file that has grown only the new rows are
    taught. Rows that are equal within one file are all taught.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._left: set[Id] = set(learner.ids)

    def take(self, x: Any, label: Label) -> Label | None:
        """Match a row with a stored example; return its present label, or None without a match.

        The example must have an equal row and the same label, or have had it before a correction.
        It matches only once.
        """
        for each in self._learner.find(x) if self._left else ():
            if each in self._left:
                now = self._learner.example(each)[1]
                if label == now or label in self._learner.corrected.get(each, ()):
                    self._left.remove(each)
                    return now
        return None
