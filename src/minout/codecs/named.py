"""Find a codec by name, or make one from the user's own."""

from typing import Any

from minout.codecs.codec import Codec, ExactCodec
from minout.codecs.floats import FloatCodec
from minout.codecs.own import OwnCodec
from minout.codecs.product import ProductCodec
from minout.codecs.scalar import RowCodec, ScalarCodec
from minout.errors import InvalidInputError

SHIPPED = (FloatCodec, RowCodec, ScalarCodec, ProductCodec)
_NAMED: dict[str, FloatCodec | RowCodec] = {
    "uint8": FloatCodec(),
    "uint4": RowCodec(4),
    "uint2": RowCodec(2),
}


def memory_name(codec: Codec | None) -> str | Codec:
    """Return the setting `memory` of a codec: its name, or the codec if it has none."""
    if codec is None:
        return "auto"
    for name, named in _NAMED.items():
        if type(codec) is type(named) and codec.fingerprint == named.fingerprint:
            return name
    return codec


def memory_text(codec: Codec | None) -> str:
    """Return the name of a codec, or its fingerprint if it has none."""
    name = memory_name(codec)
    return name if isinstance(name, str) else name.fingerprint


def codec_of(memory: Any) -> ExactCodec | None:
    """Return the codec that the setting `memory` means; None for "auto": numbers as they are.

    Parameters
    ----------
    memory : str or Codec
        "auto", "uint8", "uint4", "uint2", or a codec.

    Returns
    -------
    codec or None
        The codec itself if it is one of minout's, otherwise one that calls it row by row.
    """
    if isinstance(memory, str):
        if memory == "auto":
            return None
        if memory in _NAMED:
            return _NAMED[memory]
    elif isinstance(memory, (*SHIPPED, OwnCodec)):
        return memory
    elif not isinstance(memory, type) and isinstance(memory, Codec):
        return OwnCodec(memory)
    raise InvalidInputError(
        f'`memory` must be "auto", "uint8", "uint4", "uint2" or a codec with encode, decode, '
        f"width, bytes_per_row and fingerprint, not {memory!r}."
    )
