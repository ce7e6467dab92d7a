"""Labels, ids and nested values of files."""

import math
from collections.abc import Iterator
from typing import Any

from minout._typing import Label
from minout.errors import InvalidInputError


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


def flattened(values: dict[str, Any], lengths: dict[str, int]) -> dict[str, Any]:
    """Return the columns of a nested object.

    `lengths` has the length of each list of numbers that was met before, and gets the new ones.

    >>> flattened({"x": [1, 2], "car": {"colour": "red", "wheels": 4}}, {})
    {'x[0]': 1, 'x[1]': 2, 'car.colour': 'red', 'car.wheels': 4}
    """
    if not any(isinstance(value, dict | list) for value in values.values()):
        return values
    flat: dict[str, Any] = {}
    for name, value in _parts(values, lengths):
        if name in flat:
            raise InvalidInputError(f"two fields are named {name!r}; rename one of them.")
        flat[name] = value
    return flat


def _parts(values: dict[str, Any], lengths: dict[str, int]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _parts({f"{name}.{key}": each for key, each in value.items()}, lengths)
        elif isinstance(value, list):
            is_vector = bool(value) and all(isinstance(each, int | float) for each in value)
            if is_vector and len(value) != lengths.setdefault(name, len(value)):
                raise InvalidInputError(
                    f"the list {name!r} has {len(value)} numbers, but {lengths[name]} in earlier "
                    "rows; write lists of the same length."
                )
            yield from _parts({f"{name}[{n}]": each for n, each in enumerate(value)}, lengths)
        else:
            yield name, value


def check_names(source: str, names: list[str]) -> None:
    """Raise an error for two columns of the same name."""
    for name in filter(None, names):
        if names.count(name) > 1:
            raise InvalidInputError(
                f"{source} has two columns {name!r}; give each column its own name."
            )
