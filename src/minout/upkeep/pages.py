"""Read records directly from the pages of an SQLite file whose B-trees are damaged.

https://sqlite.org/fileformat2.html describes pages, cells and the write-ahead log. The caller must
check each record that is found in this way: it may belong to any table.
"""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from minout.store.schema import PAGE

Value = None | int | float | str | bytes

LEAF = 0x0D
FILE_HEADER, LOG_HEADER, FRAME_HEADER = 100, 32, 24
MOST_LOCAL, LEAST_LOCAL = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
"""The longest record that fits in its page, and the fewest bytes of a longer one that are there."""
MOST_TIMES = 10
"""Further pages are read at most so many times as often as there are pages."""
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""The number of bytes of an integer, by its type in a record."""


def records(file: Path, progress: Callable[[float], None]) -> Iterator[tuple[int, list[Value]]]:
    """Yield the rowid and the values of every record in the leaf pages of all tables of a file.

    Records that are malformed are left out. `progress` is called with the fraction that is done.
    """
    with _Pages(file) as pages:
        for n, number in enumerate(pages.numbers):
            progress((n + 1) / len(pages.numbers))
            page = pages[number]
            start = FILE_HEADER if number == 1 else 0
            if len(page) == PAGE and page[start] == LEAF:
                yield from _cells(pages, page, start)


class _Pages:
    """The newest version of each page, from the write-ahead log or the file; numbers start at 1."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("rb")
        self._in_log = _log_pages(file.with_name(f"{file.name}-wal"))
        size = self._file.seek(0, 2)
        self.numbers = sorted({*range(1, -(-size // PAGE) + 1), *self._in_log})
        self.most = PAGE * len(self.numbers)
        self._left = MOST_TIMES * len(self.numbers)

    def __enter__(self) -> "_Pages":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def further(self, number: int) -> bytes:
        """Return a page on which a long record goes on; raise ValueError if it was read often.

        In a forged file many records may go on on the same pages.
        """
        self._left -= 1
        if self._left < 0:
            raise ValueError("pages")
        return self[number]

    def __getitem__(self, number: int) -> bytes:
        found = self._in_log.get(number)
        if found is not None:
            return found
        self._file.seek((number - 1) * PAGE)
        return self._file.read(PAGE)


def _log_pages(log: Path) -> dict[int, bytes]:
    # The newest committed version of each page in a write-ahead log.
    found: dict[int, bytes] = {}
    if not log.exists():
        return found
    waiting: dict[int, bytes] = {}
    with log.open("rb") as file:
        salt = file.read(LOG_HEADER)[16:24]
        while len(frame := file.read(FRAME_HEADER + PAGE)) == FRAME_HEADER + PAGE:
            number, size = struct.unpack(">II", frame[:8])
            if frame[8:16] != salt:  # frames of earlier contents of the log follow
                break
            waiting[number] = frame[FRAME_HEADER:]
            if size:  # the last page of a transaction
                found |= waiting
                waiting = {}
    return found


def _cells(pages: _Pages, page: bytes, start: int) -> Iterator[tuple[int, list[Value]]]:
    (count,) = struct.unpack_from(">H", page, start + 3)
    for n in range(min(count, PAGE // 4)):
        try:
            (at,) = struct.unpack_from(">H", page, start + 8 + 2 * n)
            yield _cell(pages, page, at)
        except (ValueError, IndexError, struct.error, OverflowError):
            continue


def _cell(pages: _Pages, page: bytes, at: int) -> tuple[int, list[Value]]:
    size, at = _varint(page, at)
    number, at = _varint(page, at)
    if size > pages.most:
        raise ValueError("size")
    if size <= MOST_LOCAL:
        return _signed(number), _values(page[at : at + size], size)
    local = LEAST_LOCAL + (size - LEAST_LOCAL) % (PAGE - 4)
    local = local if local <= MOST_LOCAL else LEAST_LOCAL
    parts, left = [page[at : at + local]], size - local
    (following,) = struct.unpack_from(">I", page, at + local)
    while left > 0:
        if following < 1:
            raise ValueError("page")
        more = pages.further(following)
        parts.append(more[4 : 4 + min(left, PAGE - 4)])
        left -= PAGE - 4
        (following,) = struct.unpack_from(">I", more)
    return _signed(number), _values(b"".join(parts), size)


def _values(record: bytes, size: int) -> list[Value]:
    if len(record) != size:
        raise ValueError("length")
    header, at = _varint(record, 0)
    found: list[Value] = []
    body = header
    while at < header:
        kind, at = _varint(record, at)
        value, body = _value(record, kind, body)
        found.append(value)
    if body != size:
        raise ValueError("length")
    return found


def _value(record: bytes, kind: int, at: int) -> tuple[Value, int]:
    # One value, and where the next one starts.
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind == 7:
        return float(struct.unpack_from(">d", record, at)[0]), at + 8
    if kind < 12:
        end = at + INTEGERS.get(kind, len(record))
        return int.from_bytes(record[at:end], "big", signed=True), end
    end = at + (kind - 12) // 2
    value = record[at:end]
    return (value.decode() if kind % 2 else value), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = data[at + n]
        if n == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    raise AssertionError("unreachable")


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
