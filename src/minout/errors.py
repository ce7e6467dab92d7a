"""The errors that minout raises on purpose, each with one sentence for the reader."""


class MinoutError(Exception):
    """Base class of every error that minout raises on purpose."""


class InvalidInputError(MinoutError, ValueError):
    """An argument is not valid: what was expected, what came, what to do. Nothing has changed."""


class MissingDataError(MinoutError):
    """Data could not be read: which, and how to get it."""


class MissingExtraError(MinoutError, ImportError):
    """An optional dependency is missing: which, and the command that installs it."""


class UnwritableError(MinoutError):
    """A file or folder could not be written."""


class NotConverged(ArithmeticError):  # noqa: N818, the name that the design gives it
    """A separator could not be solved in double precision; the caller turns it into a sentence."""
