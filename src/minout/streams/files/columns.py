"""Find the columns of the features, the label and the id."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from minout.errors import InvalidInputError
from minout.streams.files.example import BadRowError, RowKind
from minout.streams.files.values import is_utf8

SHOWN = 20
"""The number of column names that a message lists."""
_ELEMENT = re.compile(r"(.*)\[\d+\]")


RowsAs = Literal["numbers", "text", "text if one", "records"]


@dataclass(frozen=True)
class ReadOptions:
    """The options for reading a file; `read` describes them."""

    label: str | None = None
    id: str | None = None
    ignore: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    optional: frozenset[str] = frozenset()
    from_line: int = 1
    image_shape: tuple[int, ...] | None = None
    on_bad_line: Callable[[BadRowError], None] | None = None
    required: frozenset[str] = frozenset()
    rows: RowsAs = "numbers"
    reads_labels: bool = True
    encoding: str | None = None
    resize: tuple[int, int] | None = None
    comma_columns: frozenset[str] = frozenset()
    unit: str = "line"
    """What is counted in the file, for messages."""

    def refuse(self, error: BadRowError) -> None:
        """Pass the error for a row to `on_bad_line`, which may return to skip it; or raise it."""
        if self.on_bad_line is None:
            raise error from None
        self.on_bad_line(error)

    @property
    def not_features(self) -> set[str | None]:
        """The columns that are not features."""
        return {self.label, self.id, *self.ignore}


@dataclass(frozen=True)
class ColumnRoles:
    """The columns of features, label and id in a file.

    Attributes
    ----------
    names, features : tuple
        The names of the features, and their positions in a row of the file.
    label, id : int or None
        The positions of label and id.
    unused : tuple of str
        The other columns.
    kind : {"numbers", "text", "records"}
        What rows are read as.
    """

    names: tuple[str, ...]
    features: tuple[int, ...]
    label: int | None
    id: int | None
    unused: tuple[str, ...]
    kind: RowKind = "numbers"


def assign_roles(source: str, names: Sequence[str], options: ReadOptions) -> ColumnRoles:
    """Find the features, the label and the id among the columns of a file.

    For a model that was taught before, the features are its columns, found by name, in its order;
    other columns are unused. For a new model, and for records, they are all columns except label,
    id and ignored ones, in the order of the file. A column without a name is an error, but is left
    out of records.
    """
    is_record = options.rows == "records"
    check_unique(source, [name for name in names if name] if is_record else names)
    for name in names:
        if not is_utf8(name):
            raise InvalidInputError(
                f"The name of the column {name!r} of {source} is not UTF-8; rename it."
            )
    for name in options.ignore:
        if name not in names:
            raise InvalidInputError(_missing(source, name, names))
    label = _found(source, names, options.label, options)
    id = _found(source, names, options.id, options)
    _check_one_role(options, label, id)
    if options.columns is not None:
        _check_present(source, names, options.columns)
    chosen = options.columns
    if chosen is None or is_record:
        chosen = tuple(name for name in names if name not in options.not_features)
        if is_record:
            chosen = tuple(filter(None, chosen))
        if "" in chosen:
            place = names.index("") + 1
            raise InvalidInputError(
                f"Column {place} of {source} has no name; name it, or leave it out (--ignore '')."
            )
    if not chosen:
        raise InvalidInputError(
            f"{source} has no columns to learn from besides the label, the id and ignored ones."
        )
    if options.rows == "text" and len(chosen) != 1:
        raise InvalidInputError(
            f"Text is read from one column, but {source} has {len(chosen)}: {join_names(chosen)}; "
            "leave the others out (--ignore), or name the columns of label and id."
        )
    places = {name: place for place, name in enumerate(names)}
    features = tuple(places[name] for name in chosen)
    used = {*features, label, id}
    unused = tuple(name for place, name in enumerate(names) if place not in used)
    label = label if options.reads_labels else None
    return ColumnRoles(chosen, features, label, id, unused, row_kind(options, len(chosen)))


def row_kind(options: ReadOptions, columns: int) -> RowKind:
    """Return what rows are read as, in a file with this number of feature columns."""
    if options.rows == "text if one":
        return "text" if columns == 1 else "numbers"
    return options.rows


def join_names(names: Sequence[str]) -> str:
    """Join names for a message: the first 20, and the number of the others.

    Parameters
    ----------
    names : sequence of str
        The names; an empty one is shown as "(no name)".

    Returns
    -------
    str
        Text such as "a, b, c and 7 more".
    """
    shown = ", ".join(name or "(no name)" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def check_nameless(source: str, width: int, options: ReadOptions) -> None:
    """Raise an error for options that need column names, and for a wrong number of columns."""
    if options.ignore:
        raise InvalidInputError(
            f"The columns of {source} have no names, so --ignore cannot find "
            f"{options.ignore[0]!r}; leave --ignore out."
        )
    if options.columns is not None and len(options.columns) != width:
        raise InvalidInputError(
            f"{source} has {width} numbers per example, but this model was taught with "
            f"{len(options.columns)} columns; pass the same ones in the same order."
        )


def _found(source: str, names: Sequence[str], name: str | None, options: ReadOptions) -> int | None:
    if name is None:
        return None
    if name in names:
        return names.index(name)
    if name in options.optional:
        return None
    raise InvalidInputError(_missing(source, name, names))


def _missing(source: str, name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{source} has no column {name!r}{meant}; its columns are: {join_names(names)}."


def check_unique(source: str, names: Sequence[str]) -> None:
    """Raise an error for two columns of the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            shown = repr(name) if name else "without a name"
            raise InvalidInputError(
                f"{source} has two columns {shown}; give each column its own name."
            )
        seen.add(name)


def _check_one_role(options: ReadOptions, label: int | None, id: int | None) -> None:
    if label is not None and label == id:
        raise InvalidInputError(f"The column {options.label!r} cannot be both label and id.")
    for name, place, role in ((options.label, label, "label"), (options.id, id, "id")):
        if place is not None and name in options.ignore:
            raise InvalidInputError(f"The column {name!r} is the {role}; it cannot be ignored.")
        if place is not None and options.columns is not None and name in options.columns:
            raise InvalidInputError(
                f"The column {name!r} is one of the features that this model was taught with; "
                f"it cannot be the {role}."
            )


def _check_present(source: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    there = set(names)
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    if len(missing) == 1:
        raise InvalidInputError(
            f"{source} has no column {missing[0]!r}, which this model was taught with; add it, "
            f"empty if its values are missing. Its columns are: {join_names(names)}."
        )
    raise InvalidInputError(
        f"{source} lacks {len(missing)} columns that this model was taught with: "
        f"{join_names(missing)}; add them, empty if their values are missing. Its columns are: "
        f"{join_names(names)}."
    )


def columns_of_list(name: str, length: int) -> list[str]:
    """Return the names of the columns that the elements of a list become.

    >>> columns_of_list("x", 2)
    ['x[0]', 'x[1]']
    """
    return [f"{name}[{place}]" for place in range(length)]


def lengths_of_lists(columns: Iterable[str]) -> dict[str, int]:
    """Return the lengths of the lists that columns such as x[0] come from.

    >>> lengths_of_lists(["x[0]", "x[1]", "age"])
    {'x': 2}
    """
    found = (_ELEMENT.fullmatch(column) for column in columns)
    return dict(Counter(match[1] for match in found if match is not None))


def check_length(name: str, length: int, lengths: Mapping[str, int]) -> None:
    """Raise an error for a list that is longer or shorter than in other rows."""
    if lengths.get(name, length) != length:
        raise InvalidInputError(
            f"the list {name!r} has {length} numbers, but {lengths[name]} are expected; write "
            "lists of the same length."
        )
