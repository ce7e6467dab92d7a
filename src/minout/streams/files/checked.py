"""Read the bytes of a file, decompressed and in UTF-8; damage is reported in one sentence."""

import codecs
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from minout.errors import InvalidInputError, MissingDataError, system_reason

LONGEST_LINE = 64 << 20
"""The most bytes of a line; a longer one could fill the memory."""
CHUNK = 98_304
STARTS = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"BZh91AY&SY": ("bzip2", ".bz2"),
    b"\xfd7zXZ\0": ("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": ("Zstandard", ".zst"),
}
"""The first bytes of compressed files, with the name and suffix of the compression.

For bzip2 they are those of its usual block size.
"""
STOP = "\ud800"
"""Stands for bytes that cannot be decoded; no decoded text contains it."""


class CheckedBytes(io.BufferedIOBase):
    """A binary stream for `io.TextIOWrapper` (by `read1`) or `io.BufferedReader` (by `readinto`).

    It checks what it reads: damage, text that cannot be decoded and lines that are too long raise a
    MissingDataError, after the bytes before them were read.

    Parameters
    ----------
    read : callable
        Returns the next bytes, at most as many as its argument says; b"" at the end.
    source : str
        The name of the file, for messages.
    compression : str, optional
        The name of the compression, for messages.
    encoding : str, optional
        The encoding of the file; its text is converted to UTF-8.
    universal : bool, default=False
        Whether lines may end with a carriage return alone.
    close : callable, optional
        Called to close the file.
    """

    def __init__(
        self,
        read: Callable[[int], bytes | None],
        source: str,
        *,
        compression: str | None = None,
        encoding: str | None = None,
        universal: bool = False,
        close: Callable[[], None] | None = None,
    ) -> None:
        self._read, self._source, self._close = read, source, close
        self._compression, self._encoding, self._universal = compression, encoding, universal
        self._decoder = None
        if encoding is not None:
            self._decoder = codecs.getincrementaldecoder(encoding)(_stop.__name__)
        self._has_begun = self._is_undecodable = self._after_return = False
        self._line, self._length = 1, 0
        self._left = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read1(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002
        """Return the next bytes, of any number; b"" at the end."""
        data, self._left = self._left or self._next(), b""
        return data

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer with the next bytes and return their number; 0 at the end."""
        data = self._left or self._next()
        count = min(len(data), len(buffer))
        buffer[:count], self._left = data[:count], data[count:]
        return count

    def close(self) -> None:
        """Close the stream and the file."""
        if not self.closed and self._close is not None:
            self._close()
        super().close()

    def _next(self) -> bytes:
        data = self._decompressed() if self._decoder is None else self._decoded()
        if data:
            self._count(data)
        return data

    def _decompressed(self) -> bytes:
        try:
            data = self._read(CHUNK) or b""
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            raise self._damage(error) from None
        if not self._has_begun:
            self._check_start(data)
            self._has_begun = True
        return data

    def _damage(self, error: Exception) -> MissingDataError:
        # Libraries for compressed files raise OSErrors too; those have no errno.
        if isinstance(error, OSError) and (
            self._compression is None or error.errno or isinstance(error, TimeoutError)
        ):
            return MissingDataError(
                f"{self._source} could not be read further: {system_reason(error)}."
            )
        if not self._has_begun:
            return MissingDataError(
                f"{self._source} is not a {self._compression} file, or it is damaged; write or "
                "copy it again."
            )
        return MissingDataError(
            f"{self._source} is damaged; the rows before the damage were read. Write or copy it "
            "again."
        )

    def _check_start(self, data: bytes) -> None:
        for start, (name, suffix) in STARTS.items():
            if data.startswith(start):
                remedy = f"is compressed with {name}; add {suffix} to its name."
                if self._compression is not None:
                    remedy = "is compressed twice; decompress it once."
                raise InvalidInputError(f"{self._source} {remedy}")
        if data.startswith(b"PK\x03\x04"):
            raise InvalidInputError(
                f"{self._source} is a ZIP archive or an Excel file, not text; unpack it, or save "
                "the sheet as CSV in UTF-8."
            )

    def _decoded(self) -> bytes:
        while not self._is_undecodable:
            data = self._decompressed()
            try:
                decoded = self._decoder.decode(data, not data)  # type: ignore[union-attr]
            except UnicodeError:  # UTF-16 without a byte order mark
                decoded = STOP
            text, stop, _ = decoded.partition(STOP)
            self._is_undecodable = bool(stop)
            if text or not (data or stop):
                return text.encode("utf-8", "surrogatepass")
        raise MissingDataError(
            f"{self._source}, line {self._line}: the text is not {self._encoding}; give the "
            "encoding of the file (--encoding), or save it as UTF-8."
        )

    def _count(self, data: bytes) -> None:
        """Count the lines, and the bytes of the last one."""
        values = np.frombuffer(data, dtype=np.uint8)
        feeds = values == 10
        ends, last = int(np.count_nonzero(feeds)), data.rfind(b"\n")
        if self._universal:
            if self._after_return and data.startswith(b"\n"):
                ends -= 1
            if b"\r" in data:
                returns = values == 13
                both = np.count_nonzero(returns[:-1] & feeds[1:])
                ends += int(np.count_nonzero(returns) - both)
                last = max(last, data.rfind(b"\r"))
            self._after_return = data.endswith(b"\r")
        self._line += ends
        self._length = len(data) - last - 1 + (self._length if last < 0 else 0)
        if self._length > LONGEST_LINE:
            raise MissingDataError(
                f"{self._source}, line {self._line}: the line has more than {LONGEST_LINE:,} "
                "bytes; write each row in a line of its own."
            )


def _stop(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return STOP, len(error.object)
    raise error


codecs.register_error(_stop.__name__, _stop)
