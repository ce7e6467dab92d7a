"""Read a data frame or a list of records as columns of values."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.inputs.values import is_missing, split_numbers


class Table(NamedTuple):
    """Columns of so many rows, float64 arrays if their dtype is a number, and declared kinds."""

    columns: Mapping[str, Any]
    rows: int
    declared: Mapping[str, str] = {}

    @property
    def is_plain(self) -> bool:
        """Whether it is a frame of numbers and booleans, none of which is missing."""
        return bool(self.declared) and all(
            self._is_plain(name, values) for name, values in self.columns.items()
        )

    def _is_plain(self, name: str, values: Any) -> bool:
        if self.declared.get(name) == "boolean":
            return not any(map(is_missing, values))
        return self.declared.get(name) == "number" and not bool(np.isnan(values).any())

    def numbers(self, names: Sequence[str] | None) -> Floats:
        """Return an array of these columns (by default all) of numbers; a missing one is NaN."""
        names = list(self.columns) if names is None else names
        rows = np.empty((self.rows, len(names)))
        for place, name in enumerate(names):
            if name not in self.columns:
                raise InvalidInputError(
                    f"The column {name!r} is missing; this model was taught with it."
                )
            rows[:, place], others = split_numbers(self.columns[name])
            if others:
                value = self.columns[name][others[0]]
                raise InvalidInputError(
                    f"The column {name!r} must be a number, but here it is {value!r}.", others[0]
                )
        return rows


def is_table(X: Any) -> bool:
    """Return whether an object is a data frame, a list of records or their columns."""
    return isinstance(X, Table) or is_frame(X) or is_records(X)


def table_of(X: Any) -> Table:
    """Return the columns of a data frame or of a list of records."""
    if isinstance(X, Table):
        return X
    return frame_table(X) if is_frame(X) else record_table(X)


def is_frame(X: Any) -> bool:
    """Return whether an object is a data frame, such as one of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def is_records(X: Any) -> bool:
    """Return whether an object is a list of records: mappings of column names to values."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def from_frame(frame: Any) -> Any:
    """Return a data frame of any library as one of narwhals."""
    import narwhals.stable.v2 as nw  # takes 0.3 s
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(frame, eager_only=True)
    except DuplicateError as error:
        raise InvalidInputError("Two columns have the same name; rename one of them.") from error


def frame_table(frame: Any) -> Table:
    """Return the columns of a data frame."""
    import narwhals.stable.v2 as nw

    wrapped = from_frame(frame)
    columns, declared = dict[str, Any](), dict[str, str]()
    kinds = {nw.Boolean: "boolean", nw.Categorical: "category", nw.Enum: "category"}
    kinds |= {nw.Date: "date", nw.Datetime: "date"}
    for series in wrapped.iter_columns():
        name, dtype = str(series.name), series.dtype
        if name in columns:
            raise InvalidInputError(f"Two columns are named {name!r}; rename one of them.")
        is_number = dtype.is_numeric()
        columns[name] = (
            np.asarray(series.to_numpy(), dtype=np.float64) if is_number else series.to_list()
        )
        kind = "number" if is_number else kinds.get(dtype.base_type())
        if kind is not None:
            declared[name] = kind
    return Table(columns, len(wrapped), declared)


def record_table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Return the columns of records; a column that a record does not have is missing in it."""
    for row, each in enumerate(records):
        if not isinstance(each, Mapping):
            raise InvalidInputError(
                f"A record is a mapping of column names to values, not a {type(each).__name__}.",
                row,
            )
    names = list(records[0]) if records else []
    if set(map(type, names)) == {str} and all(list(record) == names for record in records):
        values = zip(*(each.values() for each in records), strict=True)  # twice as fast
        return Table(dict(zip(names, values, strict=True)), len(records))
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {str(name): [record.get(name) for record in records] for name in names}
    return Table(columns, len(records))
