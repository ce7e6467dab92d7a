"""Read JSON: an object per line, or an array of objects; nested values become columns."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from minout.errors import InvalidInputError, MissingDataError
from minout.files.reader import BadRowError, Options, Row, with_first
from minout.files.text import Lines, TextReader, text_fault
from minout.files.values import flattened


class JsonReader(TextReader):
    """The rows of JSON lines, or of an array of objects."""

    def __init__(self, lines: Lines, options: Options, first: str) -> None:
        super().__init__(lines, options)
        self._lengths: dict[str, int] = {}
        if first.lstrip().startswith("["):
            self.unit = "object"  # type: ignore[misc]
            self.columns, self._rows = with_first(self._of_array(first))
        else:
            self.columns, self._rows = with_first(self._of_lines(first))

    def rows(self) -> Iterator[Row | BadRowError]:
        """Yield each row, or what is wrong with it."""
        return self._rows

    def _of_lines(self, first: str) -> Iterator[Row | BadRowError]:
        for line in chain([first], self._lines):
            if line.strip():
                yield self._parsed(line)

    def _parsed(self, line: str) -> Row | BadRowError:
        number = self._lines.number
        fault = text_fault(line, self._lines.encoding)
        if fault is not None:
            return self.bad_row(number, fault, line)
        try:
            return self._row(json.loads(line), number)
        except (ValueError, RecursionError) as error:
            what = f"this is not JSON ({error}); write one object per line."
            return self.bad_row(number, what, line)

    def _of_array(self, first: str) -> Iterator[Row | BadRowError]:
        text = first + "".join(self._lines)
        fault = text_fault(text, self._lines.encoding)
        if fault is not None:
            raise InvalidInputError(f"{self.source}: {fault}")
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise MissingDataError(
                f"{self.source} is not JSON ({error}); write an array of objects, or an object per "
                "line."
            ) from None
        for number, value in enumerate(values, start=1):
            yield self._row(value, number)

    def _row(self, value: Any, number: int) -> Row | BadRowError:
        text = json.dumps(value, ensure_ascii=False)
        fault = text_fault(text, self._lines.encoding)  # "\ud800" is half a character
        if not isinstance(value, dict):
            fault = 'this is not an object; write {"column": value, …}.'
        if fault is not None:
            return self.bad_row(number, fault, text)
        try:
            whole = (self._options.label, self._options.id)
            return Row(flattened(value, whole, self._lengths), number)
        except InvalidInputError as error:
            return self.bad_row(number, str(error), text)
