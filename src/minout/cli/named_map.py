"""Find the feature map that --features names: one of minout's, or a function of your own."""

import os
import sys
from importlib import import_module

from minout.errors import InvalidInputError
from minout.features import FeatureMap, named


def named_map(text: str | None) -> FeatureMap | None:
    """Return a map by name, or import package.module:function; None if nothing is named.

    Only a name on the command line is imported, never one in a model's folder. As with `python -m`,
    the current folder is searched too.
    """
    if text is None or ":" not in text:
        return None if text is None else named(text)
    module, _, name = text.partition(":")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever the module raises when it is imported
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise InvalidInputError(
            f"--features {text} could not be imported: {reason}; name package.module:function."
        ) from error
    if isinstance(found, type) or not (callable(found) or isinstance(found, FeatureMap)):
        raise InvalidInputError(
            f"--features {text} is not a function from a batch to rows, but {type(found).__name__}."
        )
    return named(found)
