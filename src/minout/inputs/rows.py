"""Turn examples of every form into the rows that a learner stores.

A batch is an array, a sparse matrix, a list of strings, a data frame, or a list of records. One row
is a batch of one: a 1-d array, a string, a record, or any batch with one row.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats
from minout.codecs import Codes
from minout.core import State, Widths
from minout.errors import InvalidInputError
from minout.features import (
    LARGEST,
    HashedText,
    Identity,
    Projection,
    batch_size,
    check_array,
    dense_if_narrow,
    is_sparse,
    takes_rows,
)
from minout.inputs.arguments import many_rows, plain_zeros
from minout.inputs.encoder import TableEncoder
from minout.inputs.schema import Schema
from minout.inputs.tables import Table, is_frame, is_table, table_of

_FLOAT64 = np.dtype(np.float64)


class NewRows(NamedTuple):
    """Rows (n, width) to teach, or codes, their widths, and the schema that they need."""

    rows: Floats
    widths: Widths
    schema: Schema


def known_rows(X: Any, schema: Schema, state: State, *, is_read: bool = False) -> Floats:
    """Return the rows (n, width) of a batch to predict, or codes; no feature is added.

    If they are only read, they may be X itself.
    """
    batch = _batch(X, schema, state)[0]
    if isinstance(batch, Table):
        assert schema.encoder is not None
        return schema.encoder.encode(batch)
    return _rows(batch, schema, state, is_read=is_read)


def known_row(x: Any, schema: Schema, state: State) -> Floats:
    """Return the row (width,) of one example to predict, or its code."""
    return _only(known_rows(_batch_of_one(x, schema), schema, state))


def new_rows(X: Any, schema: Schema, state: State) -> NewRows:
    """Return the rows of a batch to teach; new categories and columns get features."""
    batch, names = _batch(X, schema, state, is_first=state.widths.row is None)
    if isinstance(batch, Table):
        encoder, rows = (schema.encoder or TableEncoder()).encode_new(batch)
        if not encoder.width:
            raise InvalidInputError(
                "The table has no column to learn from: columns without a value, and identifiers, "
                "are left out. Set the kind of a column with `column_kinds` (--as)."
            )
        if encoder is not schema.encoder:
            schema = replace(schema, encoder=encoder, width=encoder.width)
        return NewRows(rows, Widths(encoder.width, encoder.width), schema)
    rows, widths = _rows(batch, schema, state), state.widths
    if widths.row is None:
        if schema.encoder is not None and len(rows):
            raise InvalidInputError(
                "`column_kinds` needs column names; pass a data frame or records."
            )
        widths, width = _first_widths(batch, rows, schema, state)
        schema = replace(schema, width=width, names=names or schema.names)
    return NewRows(rows, widths, schema)


def _first_widths(
    batch: Any, rows: Floats, schema: Schema, state: State
) -> tuple[Widths, int | None]:
    # The lengths of an example and its row, and how many columns examples have.
    if isinstance(batch, Codes) and state.examples.codec is not None:
        given = row = state.examples.codec.width
    else:
        given, row = (np.shape(batch) or (0,))[-1], rows.shape[-1]
    if takes_rows(schema.features):
        return Widths(given, row), given
    return Widths(None, row), given if isinstance(schema.features, Projection) else None


def new_row(x: Any, schema: Schema, state: State) -> NewRows:
    """Return the one row (1, width) of an example to teach."""
    found = new_rows(_batch_of_one(x, schema), schema, state)
    _only(found.rows)
    return found


def _batch_of_one(x: Any, schema: Schema) -> Any:
    is_array = isinstance(x, np.ndarray)
    if not is_array:
        if schema.is_table and hasattr(x, "to_dict") and not is_frame(x):  # a row of pandas
            x = x.to_dict()
        if isinstance(x, Codes):
            return Codes(np.atleast_2d(x))
        if isinstance(x, Mapping):
            return [x]
        if is_sparse(x):
            return x.reshape(1, -1) if x.ndim == 1 else x
        if is_table(x):
            return x
    is_row = is_array and x.ndim == 1 and x.dtype.kind == "f"  # which is checked as a batch
    if takes_rows(schema.features) and not is_row:
        return check_array(x, "x", axes=1)[None]
    return x[None] if is_array else [x]


def _only(rows: Floats) -> Floats:
    if len(rows) != 1:
        raise InvalidInputError(f"Expected one row, but got {len(rows)}.")
    return np.asarray(rows[0])


def _batch(
    X: Any, schema: Schema, state: State, *, is_first: bool = False
) -> tuple[Any, tuple[str, ...] | None]:
    # A table, or what the feature map takes; and the names of the columns of an array.
    if isinstance(X, np.ndarray) or not is_table(X):
        return X, None
    table = table_of(X)
    if schema.is_table:
        return table, None
    if not takes_rows(schema.features) and not isinstance(schema.features, Projection):
        return _texts(X, table, schema), None
    if is_first and schema.features == Identity() and state.examples.codec is None:
        for name in schema.column_kinds:
            if name not in table.columns:
                raise InvalidInputError(
                    f"`column_kinds` has {name!r}, which is no column of X; remove or rename it."
                )
        if schema.encoder is not None or not table.is_plain:
            return table, None
    names = schema.names if schema.names is not None else tuple(table.columns)
    return table.numbers(schema.names), names


def _texts(X: Any, table: Table, schema: Schema) -> Any:
    # The only column of a table, for a map of texts or a function of the user's.
    if len(table.columns) == 1:
        return list(next(iter(table.columns.values())))
    if isinstance(schema.features, HashedText):
        raise InvalidInputError(
            f"Expected one column of texts, but the table has {len(table.columns)}; leave the "
            "others out."
        )
    return X.to_numpy() if is_frame(X) else table.numbers(None)


def _rows(X: Any, schema: Schema, state: State, *, is_read: bool = False) -> Floats:
    # The rows of an array, of codes, or of what a feature map takes.
    features, widths = schema.features, state.widths
    if isinstance(X, Codes):
        return _codes(X, schema, state)
    if not takes_rows(schema.features):
        is_empty = batch_size(X) == 0
        return _no_rows(schema, widths) if is_empty else _mapped(X, schema, widths)
    X = dense_if_narrow(X)
    if isinstance(features, Identity):
        fills = state.settings.missing == "mean"
        is_read = is_read and state.examples.codec is None
        return many_rows(X, widths.given, features.dtype, fills=fills, is_read=is_read)
    numbers = many_rows(X, widths.given, _FLOAT64)
    return _mapped(numbers, schema, widths) if len(numbers) else _no_rows(schema, widths)


def _no_rows(schema: Schema, widths: Widths) -> Floats:
    return np.empty((0, widths.row or 1), dtype=schema.features.dtype)


def _mapped(X: Any, schema: Schema, widths: Widths) -> Floats:
    rows: NDArray[Any] = schema.features.transform(X)
    if widths.row is not None and rows.shape[1] != widths.row:
        raise InvalidInputError(
            f"The feature map gave {rows.shape[1]} numbers, but this learner was taught with "
            f"{widths.row}. Use the same map for every example."
        )
    return plain_zeros(rows, schema.features.dtype)


def _codes(X: Codes, schema: Schema, state: State) -> NDArray[Any]:
    codec, codes = state.examples.codec, np.atleast_2d(X)  # one code is a batch of one
    if codec is None:
        raise InvalidInputError('This learner has no codec: `memory` is "auto". Pass rows.')
    if state.widths.row is not None:
        codec = codec.for_width(state.widths.row)
    if codec.width is None:
        raise InvalidInputError("The first example must be a row: it sets the width of codes.")
    if codes.shape[-1] != codec.bytes_per_row:
        raise InvalidInputError(
            f"Expected codes of {codec.bytes_per_row} bytes, but got shape {codes.shape}."
        )
    rows = codec.decode(codes, schema.features.dtype)
    if not (np.abs(rows) <= LARGEST[rows.dtype]).all():  # false for NaN, too
        raise InvalidInputError("A code stands for a number that is not finite or too large.")
    return codes
