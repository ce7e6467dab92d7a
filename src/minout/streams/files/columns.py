"""Which columns are features, which one is the label and which one the id."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from minout.errors import InvalidInputError
from minout.streams.files.values import is_unicode

SHOWN = 20
"""How many names of columns a sentence lists."""


@dataclass(frozen=True)
class Asked:
    """Is what a caller says about a file.

    `columns` are the features in the order of the model, if there is one, `image_shape` that of
    its images. A label or id whose column is `optional` may be missing.
    """

    label: str | None = None
    id: str | None = None
    ignore: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    optional: frozenset[str] = frozenset()
    from_line: int = 1
    image_shape: tuple[int, ...] | None = None

    @property
    def apart(self) -> set[str | None]:
        """Names the columns that are no features."""
        return {self.label, self.id, *self.ignore}


@dataclass(frozen=True)
class Roles:
    """Says where in a row each thing stands."""

    names: tuple[str, ...]
    features: tuple[int, ...]
    label: int | None
    id: int | None
    unused: tuple[str, ...]


def roles(source: str, names: Sequence[str], asked: Asked) -> Roles:
    """Finds the features, the label and the id among the columns, or says what is wrong.

    The features are the model's columns by name, in the model's order, and other columns are left
    out; without a model they are all columns but label, id and the ignored ones, in the file's
    order.
    """
    refuse_repeated(source, names)
    for name in names:
        if not is_unicode(name):
            raise InvalidInputError(
                f"The name of the column {name!r} of {source} is not UTF-8; rename it."
            )
    for name in asked.ignore:
        if name not in names:
            raise InvalidInputError(_missing(source, name, names))
    label = _found(source, names, asked.label, asked)
    id = _found(source, names, asked.id, asked)
    _refuse_two_roles(asked, label, id)
    if asked.columns is None:
        chosen = tuple(name for name in names if name not in asked.apart)
        if "" in chosen:
            place = names.index("") + 1
            raise InvalidInputError(
                f"Column {place} of {source} has no name; name it, or leave it out (--ignore '')."
            )
    else:
        chosen = asked.columns
        _refuse_missing(source, names, chosen)
    if not chosen:
        raise InvalidInputError(
            f"{source} has no columns to learn from besides the label, the id and ignored ones."
        )
    places = {name: place for place, name in enumerate(names)}
    features = tuple(places[name] for name in chosen)
    used = {*features, label, id}
    unused = tuple(name for place, name in enumerate(names) if place not in used)
    return Roles(chosen, features, label, id, unused)


def listed(names: Sequence[str]) -> str:
    """Lists names for a sentence, not too many."""
    shown = ", ".join(name or "(no name)" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def refuse_nameless(source: str, width: int, asked: Asked) -> None:
    """Refuses what cannot be asked of a file whose columns have no names."""
    if asked.ignore:
        raise InvalidInputError(
            f"The columns of {source} have no names, so --ignore cannot find {asked.ignore[0]!r}."
        )
    if asked.columns is not None and len(asked.columns) != width:
        raise InvalidInputError(
            f"{source} has {width} numbers per example, but this model was taught with "
            f"{len(asked.columns)} columns; pass the same ones in the same order."
        )


def _found(source: str, names: Sequence[str], name: str | None, asked: Asked) -> int | None:
    if name is None:
        return None
    if name in names:
        return names.index(name)
    if name in asked.optional:
        return None
    raise InvalidInputError(_missing(source, name, names))


def _missing(source: str, name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{source} has no column {name!r}{meant}; its columns are: {listed(names)}."


def refuse_repeated(source: str, names: Sequence[str]) -> None:
    """Refuses two columns of one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            shown = repr(name) if name else "without a name"
            raise InvalidInputError(
                f"{source} has two columns {shown}; give every column a name of its own."
            )
        seen.add(name)


def _refuse_two_roles(asked: Asked, label: int | None, id: int | None) -> None:
    if label is not None and label == id:
        raise InvalidInputError(f"The column {asked.label!r} cannot be both label and id.")
    for name, place, role in ((asked.label, label, "label"), (asked.id, id, "id")):
        if place is not None and name in asked.ignore:
            raise InvalidInputError(f"The column {name!r} is the {role}; it cannot be ignored.")
        if place is not None and asked.columns is not None and name in asked.columns:
            raise InvalidInputError(
                f"The column {name!r} is one of the features that this model was taught with; "
                f"it cannot be the {role}."
            )


def _refuse_missing(source: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    there = set(names)
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    if len(missing) == 1:
        raise InvalidInputError(
            f"{source} has no column {missing[0]!r}, which this model was taught with; "
            f"its columns are: {listed(names)}."
        )
    raise InvalidInputError(
        f"{source} lacks {len(missing)} columns that this model was taught with: "
        f"{listed(missing)}; its columns are: {listed(names)}."
    )
