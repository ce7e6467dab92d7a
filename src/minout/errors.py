"""The errors that minout raises on purpose; each message is one sentence."""


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
