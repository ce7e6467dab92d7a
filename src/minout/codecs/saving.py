"""Describe a codec as JSON and arrays, and restore it; what is restored is checked."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from minout.codecs.codec import ExactCodec
from minout.codecs.floats import FloatCodec
from minout.codecs.product import ProductCodec
from minout.codecs.scalar import RowCodec, ScalarCodec
from minout.errors import InvalidInputError

Arrays = Mapping[str, NDArray[Any]]

_KINDS: dict[str, tuple[type[Any], tuple[str, ...], tuple[str, ...]]] = {
    "float": (FloatCodec, ("width",), ()),
    "row": (RowCodec, ("bits", "width"), ()),
    "scalar": (ScalarCodec, ("bits", "width"), ("low", "high")),
    "product": (ProductCodec, ("parts",), ("centroids", "factors")),
}
"""By name: the class, the settings that are saved, and the arrays."""


def described(codec: ExactCodec) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file says of a codec, and its arrays; of a user's codec, its fingerprint."""
    about: dict[str, Any] = {
        "fingerprint": codec.fingerprint,
        "width": codec.width,
        "bytes": codec.bytes_per_row,
    }
    for name, (kind, settings, arrays) in _KINDS.items():
        if type(codec) is kind:
            about |= {"name": name, "settings": {each: getattr(codec, each) for each in settings}}
            return about, {each: getattr(codec, each) for each in arrays}
    return about, {}


def restored(about: Any, arrays: Arrays) -> ExactCodec | None:
    """Return the codec that `described` described; None if it is a user's own.

    Raises
    ------
    ValueError
        If the description is malformed.
    """
    if not isinstance(about, dict) or not isinstance(about.get("fingerprint"), str):
        raise ValueError("memory")
    if "name" not in about:
        return None
    name, given = about["name"], about.get("settings")
    if not isinstance(name, str) or name not in _KINDS or not isinstance(given, dict):
        raise ValueError("memory")
    kind, settings, names = _KINDS[name]
    if set(given) != set(settings) or not set(names) <= set(arrays):
        raise ValueError("memory")
    if any(value is not None and type(value) is not int for value in given.values()):
        raise ValueError("memory")
    try:
        codec: ExactCodec = kind(**given, **{each: arrays[each] for each in names})
    except (TypeError, InvalidInputError) as error:
        raise ValueError("memory") from error
    return codec
