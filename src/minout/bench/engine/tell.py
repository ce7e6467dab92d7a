"""How a part says how far it is: what it does, how much is done, of how much."""

from collections.abc import Callable

Tell = Callable[[str, int, int], None]


def to_nobody(what: str, done: int, total: int) -> None:
    """Says nothing."""


def is_time(done: int, total: int) -> bool:
    """Says whether a count is worth telling: about a hundred times in all, and at the end."""
    return done == total or done % max(total // 100, 1) == 0
