"""Who does work that can be divided: this process, or others that an executor has started.

What is divided are pure functions: a result depends on the arguments only, to the last bit, so it
does not matter who computes it, how often, or in which order.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Work(Protocol):
    """Those who do it."""

    @property
    def parts(self) -> int:
        """Into about how many parts work should be divided; 1 for not at all."""

    def each(
        self, function: Callable[..., Any], shared: tuple[Any, ...], items: Sequence[Any], what: str
    ) -> Iterator[Any]:
        """Yield `function(*shared, item)` for each item, in their order.

        `shared` are large, and are sent once, whatever is computed from them. `what` says what
        the items are lists of, or what they are.
        """


class Executor(Protocol):
    """Whoever can start such processes; `minout.cluster` has them."""

    def open(self) -> AbstractContextManager[Work]:
        """Start them; they end with the `with` block."""


class _Here:
    """The process that asks, which divides nothing."""

    parts = 1

    def each(
        self,
        function: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Sequence[Any],
        what: str,  # noqa: ARG002
    ) -> Iterator[Any]:
        return (function(*shared, item) for item in items)


HERE = _Here()
