"""Open a file that a user named."""

import bz2
import gzip
import importlib
import io
import lzma
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Generic, Self, TypeVar, cast

from minout.errors import InvalidInputError, MissingDataError, MissingExtraError, system_reason
from minout.streams.files.checked import CHUNK, CheckedBytes

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
"""The suffixes of compressed files, and the names of the compressions."""
ZSTANDARD_CHUNK = 8_192
"""Less than `CHUNK`, because pyarrow loses all that it read in the call that meets damage."""
KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
Line = TypeVar("Line", str, bytes)


@dataclass(frozen=True)
class Opened(Generic[Line]):
    """The lines of a file that is open for reading; an iterator and a context manager.

    Reading raises a MissingDataError if the file is damaged, if it cannot be decoded, or if a line
    has more than 64 MiB; the lines before it are read first.

    Attributes
    ----------
    file : TextIO or BinaryIO
        The file, decompressed and, if it is binary, in UTF-8.
    fraction_read : callable
        Returns the fraction of the file, as it is on the disk, that has been read; None if that is
        not known.
    """

    file: IO[Line]
    fraction_read: Callable[[], float | None]

    def __iter__(self) -> Iterator[Line]:
        return self.file  # iterating over it directly is faster

    def __next__(self) -> Line:
        return next(self.file)

    def readline(self) -> Line:
        """Return the next line with its line break; an empty one at the end of the file."""
        return self.file.readline()

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_text(path: Path, source: str, encoding: str | None = None) -> Opened[str]:
    r"""Open a text file, which may be compressed; lines end with \n, \r or \r\n, and keep that.

    Without an encoding it is UTF-8; other bytes become surrogate escapes, so that a message can
    name their line.
    """
    checked, fraction_read = _checked(path, source, encoding, universal=True)
    text = io.TextIOWrapper(cast(Any, checked), "utf-8-sig", errors="surrogateescape", newline="")
    return Opened(text, fraction_read)


def open_bytes(path: Path, source: str, encoding: str | None = None) -> Opened[bytes]:
    r"""Open a file, which may be compressed, for reading bytes in lines that end with \n.

    With an encoding its text is converted to UTF-8.
    """
    checked, fraction_read = _checked(path, source, encoding, universal=False)
    return Opened(_buffered(checked), fraction_read)


def wrap_bytes(stream: BinaryIO, source: str, encoding: str | None = None) -> Opened[bytes]:
    """Read the lines of a stream that is open, as `open_bytes` does; lines are read as they come.

    The stream is not closed with them.
    """
    checked = CheckedBytes(stream.read1, source, encoding=encoding)  # type: ignore[attr-defined]
    return Opened(_buffered(checked), lambda: None)


def _buffered(checked: CheckedBytes) -> BinaryIO:
    return io.BufferedReader(cast(Any, checked), CHUNK)


def _checked(
    path: Path, source: str, encoding: str | None, *, universal: bool
) -> tuple[CheckedBytes, Callable[[], float | None]]:
    check_regular(path, source)
    suffix = path.suffix.lower()
    arrow = None
    if suffix == ".zst":
        arrow = import_optional("pyarrow", "parquet", f"Zstandard files ({source}) need pyarrow")
    try:
        size = path.stat().st_size
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(source, error) from None
    # An empty file is empty, compressed or not.
    compression = COMPRESSIONS.get(suffix) if size else None
    read = raw.read if compression is None else _decompressing(raw, suffix, arrow)
    checked = CheckedBytes(
        read,
        source,
        compression=compression,
        encoding=encoding,
        universal=universal,
        close=raw.close,
    )
    return checked, lambda: min(1.0, raw.tell() / size) if size else None


def _decompressing(raw: io.FileIO, suffix: str, arrow: Any) -> Callable[[int], bytes]:
    """Return a function that returns the next bytes, as soon as there are some."""
    if arrow is not None:
        stream = arrow.input_stream(raw, compression="zstd")
        return lambda _: bytes(stream.read(ZSTANDARD_CHUNK))
    kinds: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    read: Callable[[int], bytes] = kinds[suffix](raw).read1
    return read


def check_regular(path: Path, source: str) -> None:
    """Raise an error for a device, a pipe or a socket, which may never end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise unreadable(source, error) from None
    for is_kind, name in KINDS:
        if is_kind(mode):
            raise InvalidInputError(
                f"{source} is {name}, not a file; copy its data to a file, or pass - to read JSON "
                "lines from standard input."
            )


def unreadable(source: str, error: OSError) -> MissingDataError:
    """Return the error for a file that could not be read."""
    return MissingDataError(f"{source} could not be read: {system_reason(error)}.")


def import_optional(module: str, extra: str, who: str) -> Any:
    """Import an optional library; the error says what needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f'{who}: pip install "minout[{extra}]".') from error
