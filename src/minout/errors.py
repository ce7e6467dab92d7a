"""The ways in which minout says no: one sentence each, in the reader's words."""


class MinoutError(Exception):
    """Is the parent of every error that minout raises on purpose."""


class InvalidInputError(MinoutError, ValueError):
    """Says what was asked, what came and what to do; nothing has been changed."""


class MissingDataError(MinoutError):
    """Says which data could not be read, and how to get it."""


class MissingExtraError(MinoutError, ImportError):
    """Names the optional dependency that is needed and the command that installs it."""


class UnwritableError(MinoutError):
    """Says which file or folder could not be written."""
