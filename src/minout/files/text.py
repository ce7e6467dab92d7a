"""Read text line by line: from a file, which may be compressed, or as it arrives on a stream."""

import bz2
import codecs
import gzip
import io
import lzma
import math
import stat
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from minout.errors import InvalidInputError, MissingDataError, import_extra, system_reason

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
STARTS = {
    b"\x1f\x8b": "is compressed with gzip; add .gz to its name",
    b"BZh91AY&SY": "is compressed with bzip2; add .bz2 to its name",
    b"\xfd7zXZ\0": "is compressed with xz; add .xz to its name",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard; add .zst to its name",
    b"PK\x03\x04": "is a ZIP archive or an Excel file, not text; unpack it, or save it as CSV",
}
"""The first bytes of files that are not text, and what to do."""
CHUNK = 98_304
ZSTANDARD_CHUNK = 8_192
"""Less than `CHUNK`, because pyarrow loses all that it read in the call that meets damage."""
LONGEST_LINE = 64 << 20
"""The most characters of a line; a longer one could fill the memory."""
MOST_EMPTY = 1_000_000
"""The most empty lines of a file, one after the other: a small compressed one may have billions.

A line of spaces and quotes, as spreadsheets write it, is empty, too.
"""
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)


class Lines(Iterator[str]):
    r"""The lines of a text, each with "\n" at its end; `\r\n` and `\r` end lines, too.

    Bytes that are not in the encoding become surrogate escapes, which `text_fault` names. `read`
    returns the next bytes, b"" at the end; it waits only if there are none. `number` is that of the
    last line.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        source: str,
        encoding: str,
        close: Callable[[], None] = lambda: None,
        fraction_read: Callable[[], float | None] = lambda: None,
        most_empty: float = math.inf,
    ) -> None:
        self.source, self.number, self.encoding = source, 0, encoding
        self.close, self.fraction_read, self._read = close, fraction_read, read
        decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._ready: deque[str] = deque()
        self._rest, self._has_begun, self._has_ended = "", False, False
        self._empty, self._most_empty = 0, most_empty

    @property
    def has_arrived(self) -> bool:
        """Whether the next line is here already."""
        return bool(self._ready)

    def __next__(self) -> str:
        """Return the next line; wait for it if it has not arrived."""
        while not self._ready and not self._has_ended:
            self._fill()
        if not self._ready:
            raise StopIteration
        self.number += 1
        line = self._ready.popleft()
        self._empty = self._empty + 1 if line.replace('"', "").isspace() else 0
        if self._empty > self._most_empty:
            raise MissingDataError(
                f"{self.source}, line {self.number}: {self._empty:,} lines are empty, one after "
                "the other; take them out, or write the file again."
            )
        return line

    def first(self) -> str:
        """Return the first line that is not blank; "" if there is none."""
        return next((line for line in self if line.strip()), "")

    def _fill(self) -> None:
        data = self._next_bytes()
        try:
            text = self._rest + self._decoder.decode(data, not data)
        except UnicodeError:  # of UTF-16 and UTF-32, which have no surrogate escapes
            raise MissingDataError(
                f"{self.source}, after line {self.number}: the text is not {self.encoding}; give "
                "the encoding of the file (--encoding), or save it as UTF-8."
            ) from None
        *lines, self._rest = text.split("\n")
        if len(self._rest) > LONGEST_LINE:
            raise MissingDataError(
                f"{self.source}, line {self.number + len(lines) + 1}: the line has more than "
                f"{LONGEST_LINE:,} characters; write each row in a line of its own."
            )
        self._ready.extend(f"{line}\n" for line in lines)
        if not data:
            self._has_ended = True
            self._ready.extend([self._rest] if self._rest else [])

    def _next_bytes(self) -> bytes:
        try:
            data = self._read(CHUNK) or b""
        except DAMAGE as error:
            raise self._damage(error) from None
        if not self._has_begun:
            self._has_begun = True
            for start, remedy in STARTS.items():
                if data.startswith(start):
                    raise InvalidInputError(f"{self.source} {remedy}.")
        return data

    def _damage(self, error: Exception) -> MissingDataError:
        # Libraries for compressed files raise OSErrors too; those have no errno.
        if isinstance(error, OSError) and error.errno:
            what = f"could not be read further: {system_reason(error)}."
        elif not self._has_begun:
            what = "is not compressed as its name says, or it is damaged; write or copy it again."
        else:
            what = (
                f"is damaged after line {self.number}; the rows before were read. Write or copy it "
                "again."
            )
        return MissingDataError(f"{self.source} {what}")


def open_text(path: Path, encoding: str) -> Lines:
    """Open a text file, which may be compressed."""
    check_file(path)
    encoding = checked_encoding(encoding)
    suffix, arrow = path.suffix.lower(), None
    if suffix == ".zst":
        arrow = import_extra("pyarrow", "parquet", f"Zstandard files ({path}) need pyarrow")
    try:
        size, raw = path.stat().st_size, path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(path, error) from None
    # An empty file is empty, compressed or not.
    read = _decompressing(raw, suffix, arrow) if size else raw.read
    return Lines(
        read,
        str(path),
        encoding,
        raw.close,
        lambda: min(1.0, raw.tell() / size) if size else None,
        MOST_EMPTY,
    )


def _decompressing(raw: io.FileIO, suffix: str, arrow: Any) -> Callable[[int], bytes]:
    if suffix == ".zst":
        stream = arrow.input_stream(raw, compression="zstd")
        return lambda _: bytes(stream.read(ZSTANDARD_CHUNK))
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    read: Callable[[int], bytes] = openers[suffix](raw).read1 if suffix in openers else raw.read
    return read


def checked_encoding(encoding: str) -> str:
    """Return Python's name of a text encoding; UTF-8 may begin with a byte order mark."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # refuses codecs such as base64
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):  # ValueError: characters that no name has
        raise InvalidInputError(
            f"{encoding!r} is not a text encoding that Python knows; pass the name of one, such as "
            "cp1252, latin-1 or utf-16."
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def text_fault(text: str, encoding: str) -> str | None:
    r"""Return what is wrong with text that was not in its encoding, or None.

    >>> text_fault("caf\udce9", "utf-8-sig")
    'the text is not UTF-8; it may be cp1252 (add --encoding cp1252), or save it as UTF-8.'
    """
    if "\0" not in text and (text.isascii() or is_utf8(text)):
        return None
    is_wide = "\0" in text or text.startswith(("\udcff", "\udcfe"))
    hint = "utf-16" if is_wide else "cp1252"
    name = "UTF-8" if encoding == "utf-8-sig" else encoding
    return f"the text is not {name}; it may be {hint} (add --encoding {hint}), or save it as UTF-8."


def is_utf8(text: str) -> bool:
    """Return whether text can be written as UTF-8: it has no surrogate escapes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_file(path: Path) -> None:
    """Raise an error if there is no such file, or if it is a device, a pipe or a socket."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        raise MissingDataError(f"There is no file {path}.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidInputError(
            f"{path} is a pipe or a device, not a file; pass - to read standard input."
        )


def unreadable(path: Path, error: OSError) -> MissingDataError:
    """Return the error for a file that could not be read."""
    return MissingDataError(f"{path} could not be read: {system_reason(error)}.")
