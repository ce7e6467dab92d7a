"""Codecs: fixed functions from rows of numbers to a few bytes, in which a learner stores them."""

from minout.codecs.codec import Bytes, Codec, Codes, OwnCodec
from minout.codecs.memory import ExactCodec, codec_of, described, memory_name, memory_text, restored
from minout.codecs.scalar import ScalarCodec
from minout.codecs.uint8 import Uint8Codec
