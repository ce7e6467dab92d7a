"""Labels, ids and nested values of files, and what messages say of columns."""

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from minout._typing import Label
from minout.errors import InvalidInputError, MissingExtraError

SHOWN = 20
"""The number of names that a message lists."""


def parse_label(value: Any, what: str = "label") -> Label | None:
    """Return a value as a label: a string, a whole number, or None if it is empty.

    >>> [parse_label(each) for each in (" cat ", 3.0, True, "", None)]
    ['cat', 3, 'true', None, None]
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    shown = repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:36]}…"
    raise InvalidInputError(f"the {what} is {shown}; it must be a whole number or a string.")


def parse_id(value: Any) -> str | None:
    """Return a value as an id, a string; None if it is empty."""
    id = parse_label(value, "id")
    return None if id is None else str(id)


def flattened(
    values: dict[str, Any],
    whole: tuple[str | None, ...] = (),
    lengths: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Return the columns of a nested object; those in `whole` stay as they are.

    `lengths` has the length of each list of numbers that was met before, and gets the new ones.

    >>> flattened({"x": [1, 2], "car": {"colour": "red", "wheels": 4}})
    {'x[0]': 1, 'x[1]': 2, 'car.colour': 'red', 'car.wheels': 4}
    """
    if not any(isinstance(value, dict | list) for value in values.values()):
        return values
    flat: dict[str, Any] = {}
    try:
        for name, value in _parts(values, whole, {} if lengths is None else lengths):
            if name in flat:
                raise InvalidInputError(f"two fields are named {name!r}; rename one of them.")
            flat[name] = value
    except RecursionError:
        raise InvalidInputError("it is nested too deeply; write fewer levels.") from None
    return flat


def _parts(
    values: dict[str, Any], whole: tuple[str | None, ...], lengths: dict[str, int]
) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name not in whole and isinstance(value, dict):
            inner = {f"{name}.{key}": each for key, each in value.items()}
            yield from _parts(inner, whole, lengths)
        elif name not in whole and isinstance(value, list):
            if value and all(isinstance(each, int | float) for each in value):
                _check_length(name, len(value), lengths)
            inner = {f"{name}[{place}]": each for place, each in enumerate(value)}
            yield from _parts(inner, whole, lengths)
        else:
            yield name, value


def _check_length(name: str, length: int, lengths: dict[str, int]) -> None:
    expected = lengths.setdefault(name, length)
    if length != expected:
        raise InvalidInputError(
            f"the list {name!r} has {length} numbers, but {expected} in earlier rows; write lists "
            "of the same length."
        )


def check_names(source: str, names: list[str]) -> None:
    """Raise an error for two columns of the same name."""
    for name in filter(None, names):
        if names.count(name) > 1:
            raise InvalidInputError(
                f"{source} has two columns {name!r}; give each column its own name."
            )


def join_names(names: list[str]) -> str:
    """Join names for a message: the first 20, and the number of the others.

    >>> join_names(["a", "b"])
    'a, b'
    """
    shown = ", ".join(name or "(no name)" for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def import_extra(module: str, extra: str, who: str) -> Any:
    """Import an optional library; the error says what needs it and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'{who}; in the folder of minout\'s source: pip install ".[{extra}]".'
        ) from error
