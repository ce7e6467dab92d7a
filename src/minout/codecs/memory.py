"""The setting `memory`: which codec it names, and what a file says of a codec."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from minout.codecs.codec import Codec, OwnCodec
from minout.codecs.scalar import ScalarCodec
from minout.codecs.uint8 import Uint8Codec
from minout.errors import InvalidInputError

ExactCodec = Uint8Codec | ScalarCodec | OwnCodec
"""A codec whose codes and rows do not depend on the other rows of a call."""


def codec_of(memory: Any) -> ExactCodec | None:
    """Return the codec that the setting `memory` means; None for "auto": numbers as they are."""
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
    return memory_text(codec) if codec is None or isinstance(codec, Uint8Codec) else codec


def memory_text(codec: Codec | None) -> str:
    """Return the name of a codec, or its fingerprint if it has none."""
    return "auto" if codec is None else codec.fingerprint


def described(codec: ExactCodec) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file says of a codec, and its arrays; of a user's codec, its fingerprint."""
    sizes = {"width": codec.width, "bytes": codec.bytes_per_row}
    about: dict[str, Any] = {"fingerprint": codec.fingerprint, **sizes}
    if isinstance(codec, Uint8Codec):
        return {**about, "name": "uint8"}, {}
    if isinstance(codec, ScalarCodec):
        bounds = {"low": codec.low, "high": codec.high}
        return {**about, "name": "scalar", "bits": codec.bits}, bounds
    return about, {}


def restored(about: Any, arrays: Mapping[str, NDArray[Any]]) -> ExactCodec | None:
    """Return the codec that `described` described, or raise ValueError; None for a user's own."""
    if not isinstance(about, dict):
        raise ValueError("memory")
    if "name" not in about:
        return None
    name, width = about["name"], about.get("width")
    if name == "uint8" and (width is None or (type(width) is int and width >= 0)):
        return Uint8Codec(width)
    if name != "scalar" or not {"low", "high"} <= set(arrays):
        raise ValueError("memory")
    return ScalarCodec(about.get("bits", 0), arrays["low"], arrays["high"])
