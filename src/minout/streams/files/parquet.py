"""Read Parquet with pyarrow, a batch of rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError, MinoutError, MissingDataError
from minout.streams.files.columns import (
    ColumnRoles,
    ReadOptions,
    assign_roles,
    check_length,
    check_unique,
    columns_of_list,
    lengths_of_lists,
)
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.flattening import flattened
from minout.streams.files.opening import import_optional, unreadable
from minout.streams.files.values import check_text, describe_fault, parse_id, parse_label

BATCH = 1_024


def open_parquet(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read the schema and check its types; the rows are read lazily.

    A column of lists of equal length is read as several columns: x becomes x[0], x[1], … For
    records, so is a column of structs: car becomes car.age, car.colour, …
    """
    arrow = import_optional("pyarrow", "parquet", "Parquet files need pyarrow")
    file = _opened(path, source)
    try:
        if not file.metadata.num_rows:
            raise InvalidInputError(f"{source} is empty; it needs rows.")
        table = _Table(file, source, options, arrow)
        found = assign_roles(source, table.names, options)
        table.check_types(found)
    except MinoutError:
        file.close()
        raise
    except Exception:  # pyarrow raises many types on damaged files
        file.close()
        raise _damaged(source) from None
    done = [0]
    return Reader(
        source,
        _examples(table, source, found, options, done),
        file.close,
        lambda: done[0] / file.metadata.num_rows,
        found.names,
        None if found.label is None else options.label,
        None if found.id is None else options.id,
        found.unused,
        kind=found.kind,
    )


class _Table:
    """The columns of a file by name, lists as several columns, in batches of rows."""

    def __init__(self, file: Any, source: str, options: ReadOptions, arrow: Any) -> None:
        self._file, self._source, self._arrow = file, source, arrow
        self._fields = [field for field in file.schema_arrow if not _is_pandas_index(field.name)]
        check_unique(source, [field.name for field in self._fields])
        self.names: list[str] = []
        self._column: list[tuple[str, int | None]] = []
        self.lengths: dict[str, int] = {}
        for field in self._fields:
            is_whole = field.name in options.not_features
            if not is_whole and self._is_list(field.type):
                self._add_list(field.name, options)
            elif not is_whole and options.rows == "records" and arrow.types.is_struct(field.type):
                self._add_struct(field)
            else:
                self.names.append(field.name)
                self._column.append((field.name, None))

    def check_types(self, found: ColumnRoles) -> None:
        """Raise an error for features that are not numbers, or not text; records may be both."""
        if found.kind == "records":
            return
        types = self._arrow.types
        kinds = {field.name: field.type for field in self._fields}
        for place in found.features:
            name = self._column[place][0]
            kind = kinds[name]
            if self._is_list(kind):
                kind = kind.value_type
            while types.is_dictionary(kind):
                kind = kind.value_type
            if found.kind == "text":
                if not (types.is_string(kind) or types.is_large_string(kind)):
                    raise InvalidInputError(
                        f"Column {name!r} of {self._source} holds {kind}, not text."
                    )
            elif not any(
                is_number(kind)
                for is_number in (
                    types.is_integer,
                    types.is_floating,
                    types.is_boolean,
                    types.is_decimal,
                )
            ):
                raise InvalidInputError(
                    f"Column {name!r} of {self._source} holds {kind}, not numbers; leave it out "
                    f"(--ignore {name}), or encode it as numbers."
                )

    def batches(
        self, found: ColumnRoles
    ) -> Iterator[tuple[Any, list[Any] | None, list[Any] | None]]:
        """Yield rows, labels and ids, in batches.

        Rows are numbers (n, d) with NaN where one is missing, a list of texts, or a list of records
        whose values may be nested.
        """
        wanted = [*found.features]
        wanted += [place for place in (found.label, found.id) if place is not None]
        columns = list(dict.fromkeys(self._column[place][0] for place in wanted))
        try:
            for batch in self._file.iter_batches(batch_size=BATCH, columns=columns):
                by_name = {name: batch.column(name) for name in columns}
                labels, ids = (self._values(by_name, each) for each in (found.label, found.id))
                yield self._batch(batch, by_name, found), labels, ids
        except Exception:  # pyarrow raises many types on damaged files
            raise MissingDataError(
                f"{self._source} is damaged; what could be read has been. Write or copy it again."
            ) from None

    def _batch(self, batch: Any, by_name: dict[str, Any], found: ColumnRoles) -> Any:
        if found.kind == "records":
            names = {self._column[place][0] for place in found.features}
            return batch.select([name for name in by_name if name in names]).to_pylist()
        if found.kind == "text":
            return self._values(by_name, found.features[0])
        return self._rows(by_name, found)

    def _rows(self, by_name: dict[str, Any], found: ColumnRoles) -> Floats:
        arrays = {
            name: self._as_floats(by_name[name], self.lengths.get(name))
            for name in dict.fromkeys(self._column[place][0] for place in found.features)
        }
        parts = []
        for place in found.features:
            name, inner = self._column[place]
            parts.append(arrays[name] if inner is None else arrays[name][:, inner])
        return np.stack(parts, axis=1)

    def _as_floats(self, column: Any, length: int | None) -> Floats:
        if length is not None:
            return self._as_matrix(column.to_pylist(), length)
        if self._arrow.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        numbers = column.cast(self._arrow.float64(), safe=False)
        return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)

    def _as_matrix(self, lists: list[Any], length: int) -> Floats:
        # A missing list, or one of another length, becomes NaN here and is reported later.
        matrix = np.full((len(lists), length), np.nan)
        for place, values in enumerate(lists):
            if values is not None and len(values) == length:
                matrix[place] = values  # None becomes NaN
        return matrix

    def _values(self, by_name: dict[str, Any], place: int | None) -> list[Any] | None:
        if place is None:
            return None
        values: list[Any] = by_name[self._column[place][0]].to_pylist()
        return values

    def _is_list(self, kind: Any) -> bool:
        types = self._arrow.types
        return bool(
            types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        )

    def _add_struct(self, field: Any) -> None:
        for name in _leaves(field.name, field.type, self._arrow.types):
            self.names.append(name)
            self._column.append((field.name, None))

    def _add_list(self, name: str, options: ReadOptions) -> None:
        (first,) = next(self._file.iter_batches(batch_size=1, columns=[name])).column(name)
        length = len(first.as_py() or [])
        if options.columns is not None:
            try:
                check_length(name, length, lengths_of_lists(options.columns))
            except InvalidInputError as error:
                raise InvalidInputError(f"{self._source}: {error}") from None
        self.lengths[name] = length
        self.names += columns_of_list(name, length)
        self._column += [(name, place) for place in range(length)]


def _leaves(name: str, kind: Any, types: Any) -> Iterator[str]:
    if not types.is_struct(kind):
        yield name
        return
    for inner in kind:
        yield from _leaves(f"{name}.{inner.name}", inner.type, types)


def _opened(path: Path, source: str) -> Any:
    parquet = import_optional("pyarrow.parquet", "parquet", "Parquet files need pyarrow")
    try:
        return parquet.ParquetFile(path)
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(source, error) from None
        raise _damaged(source) from None


def _damaged(source: str) -> MissingDataError:
    return MissingDataError(
        f"{source} is not a Parquet file, or it is damaged; write or copy it again."
    )


def _is_pandas_index(name: str) -> bool:
    return name.startswith("__index_level_") and name.endswith("__")


def _examples(
    table: _Table, source: str, found: ColumnRoles, options: ReadOptions, done: list[int]
) -> Iterator[Example]:
    for rows, labels, ids in table.batches(found):
        for place, row in enumerate(rows):
            done[0] += 1
            number = done[0]
            if number < options.from_line:
                continue
            where = f"row {number}"
            try:
                checked = _checked(row, found, table.lengths)
                label = None if labels is None else parse_label(labels[place])
                id = None if ids is None else parse_id(ids[place])
            except InvalidInputError as error:
                shown = str(row.tolist() if isinstance(row, np.ndarray) else row)
                options.refuse(BadRowError(source, where, str(error), number + 1, shown))
                continue
            yield Example(checked, label, id, number, where)


def _checked(row: Any, found: ColumnRoles, lengths: Mapping[str, int]) -> Any:
    if found.kind == "records":
        return flattened(row, (), lengths)
    if found.kind == "text":
        return check_text(row, found.names[0])
    if not np.isfinite(row).all():
        raise InvalidInputError(_fault(row, found.names))
    return row


def _fault(row: Floats, names: Sequence[str]) -> str:
    values = (None if np.isnan(value) else value for value in row.tolist())
    return next(filter(None, map(describe_fault, values, names)))
