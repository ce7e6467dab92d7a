"""The setting `memory`: which codec it names, and what a file says of a codec."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from minout.codecs.codec import Codec
from minout.codecs.own import OwnCodec
from minout.codecs.scalar import ScalarCodec
from minout.codecs.uint8 import Uint8Codec
from minout.errors import InvalidInputError

ExactCodec = Uint8Codec | ScalarCodec | OwnCodec
"""A codec whose codes and rows do not depend on the other rows of a call."""


def codec_of(memory: Any) -> ExactCodec | None:
    """Return the codec that the setting `memory` means; None for "auto": numbers as they are.

    A codec of the user's own is called row by row.
    """
    if isinstance(memory, str) and memory in ("auto", "uint8"):
        return Uint8Codec() if memory == "uint8" else None
    if isinstance(memory, ExactCodec):
        return memory
    if isinstance(memory, Codec) and not isinstance(memory, type):
        return OwnCodec(memory)
    raise InvalidInputError(
        '`memory` must be "auto", "uint8" or a codec with encode, decode, width, bytes_per_row and '
        f"fingerprint, not {memory!r}."
    )


def memory_name(codec: Codec | None) -> str | Codec:
    """Return the setting `memory` of a codec: its name, or the codec if it has none."""
    if codec is None or isinstance(codec, Uint8Codec):
        return memory_text(codec)
    return codec


def memory_text(codec: Codec | None) -> str:
    """Return the name of a codec, or its fingerprint if it has none."""
    return "auto" if codec is None else codec.fingerprint


def described(codec: ExactCodec) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file says of a codec, and its arrays; of a user's codec, its fingerprint."""
    about: dict[str, Any] = {
        "fingerprint": codec.fingerprint,
        "width": codec.width,
        "bytes": codec.bytes_per_row,
    }
    if isinstance(codec, Uint8Codec):
        return {**about, "name": "uint8"}, {}
    if isinstance(codec, ScalarCodec):
        about |= {"name": "scalar", "bits": codec.bits}
        return about, {"low": codec.low, "high": codec.high}
    return about, {}


def restored(about: Any, arrays: Mapping[str, NDArray[Any]]) -> ExactCodec | None:
    """Return the codec that `described` described; None if it is a user's own.

    Raises
    ------
    ValueError
        If the description is malformed.
    """
    if not isinstance(about, dict):
        raise ValueError("memory")
    name, width = about.get("name"), about.get("width")
    if "name" not in about:
        return None
    if name == "uint8" and (width is None or (type(width) is int and width >= 0)):
        return Uint8Codec(width)
    if name != "scalar" or not {"low", "high"} <= set(arrays):
        raise ValueError("memory")
    try:
        return ScalarCodec(about.get("bits", 0), arrays["low"], arrays["high"])
    except InvalidInputError as error:
        raise ValueError("memory") from error
