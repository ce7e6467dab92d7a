"""Codecs: fixed functions from rows of numbers to a few bytes, in which a learner stores them."""

from minout.codecs.codec import Bytes, Codec, ExactCodec
from minout.codecs.codes import Codes
from minout.codecs.floats import FloatCodec
from minout.codecs.named import codec_of, memory_name, memory_text
from minout.codecs.own import OwnCodec
from minout.codecs.product import ProductCodec
from minout.codecs.saving import described, restored
from minout.codecs.scalar import RowCodec, ScalarCodec

__all__ = [
    "Bytes",
    "Codec",
    "Codes",
    "ExactCodec",
    "FloatCodec",
    "OwnCodec",
    "ProductCodec",
    "RowCodec",
    "ScalarCodec",
    "codec_of",
    "described",
    "memory_name",
    "memory_text",
    "restored",
]
