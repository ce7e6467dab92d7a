"""Know rows without ids again by their content."""

from typing import Any

from minout._typing import Id
from minout.learner import Learner
from minout.streams.files import Label


class KnownRows:
    """The examples that a model had before a file was read; each stands for one equal row of it.

    So a file that is learned twice changes nothing, and of a file that has grown only the new rows
    are taught; but rows that are equal within one file are all taught.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._left: set[Id] = set(learner.ids)

    def take(self, x: Any, label: Label) -> Label | None:
        """Return the present label of an equal example, which is then used up; None without one.

        Its label is equal too, or was before it was corrected.
        """
        for each in self._learner.find(x) if self._left else ():
            if each in self._left:
                now = self._learner.example(each)[1]
                if label == now or label in self._learner.corrected.get(each, ()):
                    self._left.remove(each)
                    return now
        return None
