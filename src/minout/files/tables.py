"""Read tables, whose rows are records: CSV, JSON and Parquet."""

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from minout.errors import InvalidInputError, MissingDataError, import_extra
from minout.files.reader import BadRowError, Content, Record, Row
from minout.files.text import Lines, text_fault, unreadable
from minout.files.values import check_names

DELIMITERS = (",", ";", "\t")
MOST_LINES = 20
"""A bad row of more lines ends the file: a quote was probably never closed."""
OPEN_QUOTE = (
    "a quote is opened and never closed, or a field has more than 131,072 characters; close it, or "
    "double it if it is part of the text."
)
REMEMBERED = ", as before"
"""A decimal comma that a model remembers of an earlier file: rows with 1.596 are refused."""
_QUOTED = re.compile(r'"[^"]*"')
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_COMMA = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?", re.ASCII)


def csv_content(lines: Lines, first: str, decimal: str) -> Content:
    """Return the rows of a CSV; the delimiter is the most frequent of three in the header."""
    delimiter = max(DELIMITERS, key=_QUOTED.sub("", first).count)
    records = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    number = lines.number
    try:
        header = [name.strip() for name in next(records)]
    except csv.Error as error:
        raise _bad_line(lines, number, _quote_fault(error)) from None
    fault = text_fault("".join(header), lines.encoding)
    if fault is not None:
        raise _bad_line(lines, number, fault)
    check_names(lines.source, header)
    rows = _csv_rows(lines, records, header, delimiter, decimal)
    return Content(rows, "line", [name for name in header if name], file=lines)


def _csv_rows(
    lines: Lines, records: Iterator[list[str]], header: list[str], delimiter: str, decimal: str
) -> Iterator[Row | BadRowError]:
    while True:
        number, fields = lines.number + 1, list[str]()
        try:
            fields = next(records)
            if not fields or (len(fields) == 1 and not fields[0].strip()):
                continue
            fault = _csv_fault(fields, header, lines.encoding, decimal)
        except StopIteration:
            return
        except csv.Error as error:
            if "unexpected end" in str(error) or "field limit" in str(error):
                raise _bad_line(lines, number, OPEN_QUOTE) from None
            fault = _quote_fault(error)
        if fault is None:
            texts = fields if decimal == "." else map(with_point, fields)
            record = dict(zip(header, texts, strict=True))
            record.pop("", None)
            yield Row(record, number)
        elif lines.number - number >= MOST_LINES:  # skipping this row could skip many
            fault = f"a quote is opened here, and the row ends only in line {lines.number}; "
            raise _bad_line(lines, number, f"{fault}close the quote.")
        else:
            line = io.StringIO()
            csv.writer(line, delimiter=delimiter, lineterminator="").writerow(fields)
            yield _bad_line(lines, number, fault, line.getvalue())


def _csv_fault(fields: list[str], header: list[str], encoding: str, decimal: str) -> str | None:
    if len(fields) != len(header):
        more = "add the missing ones"
        if len(fields) > len(header):
            more = "put quotes around a field that contains the delimiter"
        count = "is 1 field" if len(fields) == 1 else f"are {len(fields)} fields"
        return f"there {count}, but the header has {len(header)}; {more}."
    if fields[0].strip() == header[0] and [each.strip() for each in fields] == header:
        return "this is the header again; take the line out."
    for name, text in zip(header, fields, strict=True):
        fault = text_fault(text, encoding)
        if fault is not None:
            return f"column {name!r}: {fault}"
        if decimal == REMEMBERED and _EITHER.fullmatch(text.strip()):
            return (
                f"column {name!r}: with the decimal comma of an earlier file {text.strip()} is "
                f"{with_point(text)}; add --decimal , if that is right, otherwise --decimal ."
            )
    return None


def with_point(text: str) -> str:
    """Return a number with a decimal comma in Python's notation; other text unchanged.

    >>> with_point("1.234,5"), with_point(" 7"), with_point("a, b"), with_point("0.125")
    ('1234.5', ' 7', 'a, b', '0.125')
    """
    if ("," in text or "." in text) and _COMMA.fullmatch(text.strip()):
        return text.strip().replace(".", "").replace(",", ".")
    return text


def _quote_fault(error: csv.Error) -> str:
    return f"the quotes are wrong ({error}); write two quotes for one inside of a quoted field."


def _bad_line(lines: Lines, number: int, what: str, text: str = "") -> BadRowError:
    return BadRowError(lines.source, f"line {number}", what, text)


def json_content(lines: Lines, first: str) -> Content:
    """Return the rows of JSON lines, or of an array of objects."""
    if first.lstrip().startswith("["):
        return Content(_array_rows(lines, first), "object", file=lines)
    return Content(_object_rows(lines, first), "line", file=lines)


def _object_rows(lines: Lines, first: str) -> Iterator[Row | BadRowError]:
    for line in chain([first], lines):
        if not line.strip():
            continue
        value, fault = None, text_fault(line, lines.encoding)
        if fault is None:
            try:
                value = json.loads(line)
                fault = _object_fault(value, lines.encoding)
            except (ValueError, RecursionError) as error:
                fault = f"this is not JSON ({error}); write one object per line."
        if fault is None:
            yield Row(value, lines.number)
        else:
            yield _bad_line(lines, lines.number, fault, line)


def _array_rows(lines: Lines, first: str) -> Iterator[Row | BadRowError]:
    text = first + "".join(lines)
    fault = text_fault(text, lines.encoding)
    if fault is not None:
        raise InvalidInputError(f"{lines.source}: {fault}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MissingDataError(
            f"{lines.source} is not JSON ({error}); write an array of objects, or an object per "
            "line."
        ) from None
    for number, value in enumerate(values, start=1):
        fault = _object_fault(value, lines.encoding)
        if fault is None:
            yield Row(value, number)
        else:
            shown = json.dumps(value, ensure_ascii=False)
            yield BadRowError(lines.source, f"object {number}", fault, shown)


def _object_fault(value: Any, encoding: str) -> str | None:
    if not isinstance(value, dict):
        return 'this is not an object; write {"column": value, …}.'
    return text_fault(json.dumps(value, ensure_ascii=False), encoding)  # "\ud800" is half a letter


def parquet_content(path: Path) -> Content:
    """Return the rows of a Parquet file; structs and lists become columns, as in JSON."""
    parquet = import_extra("pyarrow.parquet", "parquet", "Parquet files need pyarrow")
    try:
        file = parquet.ParquetFile(path)
    except Exception as error:  # pyarrow raises many types on damaged files
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(path, error) from None
        raise MissingDataError(
            f"{path} is not a Parquet file, or it is damaged; write or copy it again."
        ) from None
    count = file.metadata.num_rows
    if not count:
        raise InvalidInputError(f"{path} is empty; it needs rows.")
    is_index = re.compile("__index_level_.*__").fullmatch  # written by pandas
    names = [name for name in file.schema_arrow.names if not is_index(name)]
    check_names(str(path), names)
    rows = (Row(each, number) for number, each in enumerate(_parquet_records(path, file, names), 1))
    return Content(rows, "row", total=count, file=file)


def _parquet_records(path: Path, file: Any, names: list[str]) -> Iterator[Record]:
    done = 0
    try:
        for batch in file.iter_batches(batch_size=1_024, columns=names):
            yield from batch.to_pylist()
            done += len(batch)
    except Exception:  # pyarrow raises many types on damaged files
        raise MissingDataError(
            f"{path} is damaged after row {done}; the rows before were read. Write or copy it "
            "again."
        ) from None
