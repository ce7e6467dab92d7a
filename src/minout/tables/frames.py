"""Read the columns of a data frame, a mapping or a list of records."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minout.errors import InvalidInputError
from minout.tables.values import is_missing

Columns = Mapping[str, Sequence[Any]]


def is_frame(table: Any) -> bool:
    """Return whether an object is a data frame of pandas or polars."""
    return hasattr(table, "columns") and hasattr(table, "dtypes")


def is_plain(frame: Any) -> bool:
    """Return whether a frame has numbers and booleans only, and none is missing."""
    _refuse_twice([str(each) for each in frame.columns])
    return all(_is_plain(frame[each]) for each in frame.columns)


def columns_of(table: Any) -> Columns:
    """Return the values of each column, by name.

    Parameters
    ----------
    table : DataFrame, mapping of str to sequence, or sequence of mappings
        A pandas or polars data frame, a mapping of column names to values, or records (mappings of
        column names to values). A column that a record does not have is missing in it.

    Returns
    -------
    mapping of str to sequence
        Columns of a data frame whose dtype is a number are float64 arrays, with NaN where a value
        is missing.

    Raises
    ------
    InvalidInputError
        If it is no such table, if two columns have the same name, or if columns differ in length.
    """
    if is_frame(table):
        names = [str(each) for each in table.columns]
        _refuse_twice(names)
        series = (table[each] for each in table.columns)
        return {name: _values(each) for name, each in zip(names, series, strict=True)}
    if isinstance(table, Mapping):
        return _equally_long({str(name): values for name, values in table.items()})
    if isinstance(table, str | bytes) or not isinstance(table, Sequence):
        raise InvalidInputError(
            "A table must be a data frame, a mapping of column names to values or a list of "
            f"records, not a {type(table).__name__}."
        )
    for each in table:
        if not isinstance(each, Mapping):
            raise InvalidInputError(
                f"A record must be a mapping of column names to values, not a "
                f"{type(each).__name__}."
            )
    names = list(table[0]) if table else []
    if set(map(type, names)) == {str} and all(list(record) == names for record in table):
        return dict(zip(names, zip(*(each.values() for each in table), strict=True), strict=True))
    names = list(dict.fromkeys(str(name) for record in table for name in record))
    return {name: [record.get(name) for record in table] for name in names}


def declared_kinds(table: Any) -> dict[str, str]:
    """Return the kinds that follow from the dtypes of a frame; none for objects and strings."""
    if not is_frame(table):
        return {}
    kinds = {str(each): _declared(table[each].dtype) for each in table.columns}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def row_count(columns: Columns) -> int:
    """Return the number of rows of columns."""
    return max((len(each) for each in columns.values()), default=0)


def _is_plain(series: Any) -> bool:
    if _declared(series.dtype) == "boolean":
        return not any(map(is_missing, series.to_list()))
    if _declared(series.dtype) != "number":
        return False
    return not bool(np.isnan(np.asarray(_values(series))).any())


def _values(series: Any) -> Sequence[Any]:
    if _declared(series.dtype) != "number":
        values: Sequence[Any] = series.to_list()
        return values
    if isinstance(getattr(series.dtype, "kind", None), str):  # pandas
        array = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        array = np.asarray(series.to_numpy(), dtype=np.float64)
    numbers: Sequence[Any] = array
    return numbers


def _declared(dtype: Any) -> str | None:
    # Extension dtypes of pandas have a kind, as those of NumPy; polars' have names.
    kind, name = getattr(dtype, "kind", None), str(dtype)
    if name.lower().startswith(("categor", "enum")):
        return "category"
    if isinstance(kind, str):
        return {"b": "boolean", "M": "date", "i": "number", "u": "number", "f": "number"}.get(kind)
    if name.startswith(("Int", "UInt", "Float", "Decimal")):
        return "number"
    return {"Boolean": "boolean", "Date": "date"}.get(
        name, "date" if name.startswith("Datetime") else None
    )


def _refuse_twice(names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"Two columns are named {twice!r}; rename one of them.")


def _equally_long(columns: dict[str, Sequence[Any]]) -> Columns:
    lengths = {name: len(each) for name, each in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, n), *others = lengths.items()
        name, m = next(each for each in others if each[1] != n)
        raise InvalidInputError(
            f"The column {first!r} has {n} rows, but {name!r} has {m}; "
            "pass columns of equal length."
        )
    return columns
