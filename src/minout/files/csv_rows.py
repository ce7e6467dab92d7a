"""Read CSV: a header, then a row per line; fields may be quoted."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain

from minout.errors import InvalidInputError
from minout.files.reader import BadRowError, Options, Row
from minout.files.text import Lines, TextReader, text_fault
from minout.files.values import check_names

DELIMITERS = (",", ";", "\t")
MOST_LINES = 20
"""A bad row of more lines ends the file: a quote was probably never closed."""
OPEN_QUOTE = (
    "a quote is opened and never closed, or a field has more than 131,072 characters; close it, or "
    "double it if it is part of the text."
)
_QUOTED = re.compile(r'"[^"]*"')
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?", re.ASCII)


class CsvReader(TextReader):
    """The rows of a CSV; blank lines and columns without a name are left out.

    The delimiter is the one of comma, semicolon and tab that is most frequent in the header. With
    `decimal` "," numbers such as 3,5 and 1.234,5 are written with a point.
    """

    def __init__(self, lines: Lines, options: Options, decimal: str, first: str) -> None:
        super().__init__(lines, options)
        self._decimal = decimal
        bare = _QUOTED.sub("", first)
        self._delimiter = max(DELIMITERS, key=bare.count)
        self._records = csv.reader(chain([first], lines), delimiter=self._delimiter, strict=True)
        self._header = self._read_header()
        self.columns = [name for name in self._header if name]

    def _read_header(self) -> list[str]:
        number = self._lines.number
        try:
            header = [name.strip() for name in next(self._records)]
        except csv.Error as error:
            raise self.bad_row(number, _quote_fault(error)) from None
        fault = text_fault("".join(header), self._lines.encoding)
        if fault is not None:
            raise self.bad_row(number, fault)
        check_names(self.source, header)
        return header

    def rows(self) -> Iterator[Row | BadRowError]:
        """Yield each row, or what is wrong with it; raise an error that ends the file."""
        is_empty = True
        while True:
            number = self._lines.number + 1
            try:
                fields = next(self._records, None)
            except csv.Error as error:
                if "unexpected end" in str(error) or "field limit" in str(error):
                    raise self.bad_row(number, OPEN_QUOTE) from None
                yield self._refused(number, _quote_fault(error), [])
                continue
            if fields is None:
                break
            if not fields or (len(fields) == 1 and not fields[0].strip()):
                continue
            is_empty, fault = False, self._fault(fields)
            if fault is None:
                yield Row(self._record(fields), number)
            else:
                yield self._refused(number, fault, fields)
        if is_empty and not self.is_live:
            raise InvalidInputError(f"{self.source} has a header, but no rows.")

    def _fault(self, fields: list[str]) -> str | None:
        width = len(self._header)
        if len(fields) != width:
            more = "add the missing ones"
            if len(fields) > width:
                more = "put quotes around a field that contains the delimiter"
            count = "is 1 field" if len(fields) == 1 else f"are {len(fields)} fields"
            return f"there {count}, but the header has {width}; {more}."
        if fields[0].strip() == self._header[0] and [f.strip() for f in fields] == self._header:
            return "this is the header again; take the line out."
        for name, text in zip(self._header, fields, strict=True):
            fault = text_fault(text, self._lines.encoding)
            if fault is not None:
                return f"column {name!r}: {fault}"
        return None

    def _record(self, fields: list[str]) -> dict[str, str]:
        if self._decimal == ",":
            fields = [with_point(text) for text in fields]
        record = dict(zip(self._header, fields, strict=True))
        record.pop("", None)
        return record

    def _refused(self, number: int, what: str, fields: list[str]) -> BadRowError:
        """Return the error for a row; raise it if skipping the row could skip many."""
        last = self._lines.number
        if last - number >= MOST_LINES:
            what = f"a quote is opened here, and the row ends only in line {last}; close the quote."
            raise self.bad_row(number, what)
        line = io.StringIO()
        csv.writer(line, delimiter=self._delimiter, lineterminator="").writerow(fields)
        return self.bad_row(number, what, line.getvalue())


def with_point(text: str) -> str:
    """Return a number with a decimal comma in Python's notation; other text unchanged.

    >>> with_point("1.234,5"), with_point(" 7"), with_point("a, b")
    ('1234.5', ' 7', 'a, b')
    """
    if ("," in text or "." in text) and _COMMA.fullmatch(text.strip()):
        return text.strip().replace(".", "").replace(",", ".")
    return text


def _quote_fault(error: csv.Error) -> str:
    return f"the quotes are wrong ({error}); write two quotes for one inside of a quoted field."
