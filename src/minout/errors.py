"""The errors that minout raises on purpose; each message is one sentence."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class MinoutError(Exception):
    """Base class of every error that minout raises on purpose."""


class InvalidInputError(MinoutError, ValueError):
    """An argument is not valid; nothing has changed. The message says what to pass instead.

    Attributes
    ----------
    row : int or None
        The index of the row of a batch that is at fault, if it is one.
    """

    def __init__(self, message: str = "", row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class MissingDataError(MinoutError):
    """Data could not be read. The message says which, and how to get them."""


class MissingExtraError(MinoutError, ImportError):
    """An optional dependency is missing. The message has the command that installs it."""


class UnwritableError(MinoutError):
    """A file or folder could not be written."""


class ClusterError(MinoutError):
    """Other processes could not do the work; nothing has changed. The message says why."""


class NotConverged(ArithmeticError):  # noqa: N818, the name that the design gives it
    """A separator could not be solved in double precision; callers raise InvalidInputError."""


def system_reason(error: OSError) -> str:
    """Return the reason that the operating system gives for an error.

    A TimeoutError without errno is not the system's: a signal handler raised it. It is raised
    again, unchanged.
    """
    if isinstance(error, TimeoutError) and error.errno is None:
        raise error
    return error.strerror or str(error)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun in the right number.

    >>> plural(1, "class"), plural(1200, "class"), plural(0, "example")
    ('1 class', '1,200 classes', '0 examples')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def some(names: Iterable[Any], most: int = 20) -> str:
    """Return the first names for a message, and the number of the others.

    >>> some("abcdefg", 5)
    'a, b, c, d, e and 2 more'
    """
    listed = [str(each) for each in names]
    shown, more = ", ".join(listed[:most]), len(listed) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def import_extra(module: str, extra: str, who: str) -> Any:
    """Import an optional library; the error says what needs it and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'{who}; in the folder of minout\'s source: pip install ".[{extra}]".'
        ) from error
