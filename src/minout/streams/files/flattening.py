"""Flatten nested objects into columns such as car.age, and lists into columns such as x[0]."""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from minout.errors import InvalidInputError
from minout.streams.files.columns import check_length

Record = dict[str, Any]
NESTED = frozenset({dict, list})
NO_LENGTHS: Mapping[str, int] = MappingProxyType({})


def flattened(
    values: Record, whole: Collection[str | None] = (), lengths: Mapping[str, int] = NO_LENGTHS
) -> Record:
    """Return the columns of a nested object, as a flat dict.

    Parameters
    ----------
    values : dict
        A JSON object, or a row of Parquet.
    whole : collection of str
        Columns that stay nested: label, id and ignored ones.
    lengths : mapping of str to int
        The lengths that lists of numbers must have, by name.

    Returns
    -------
    dict
        Values by name of the column; `values` itself if nothing is nested.

    Raises
    ------
    InvalidInputError
        If two values get the same name, if a list of numbers has another length, or if the object
        is nested too deeply.

    Examples
    --------
    >>> flattened({"x": [1, 2], "car": {"colour": "red", "wheels": 4}})
    {'x[0]': 1, 'x[1]': 2, 'car.colour': 'red', 'car.wheels': 4}
    """
    if NESTED.isdisjoint(map(type, values.values())):
        return values
    flat: Record = {}
    try:
        for name, value in _parts(values, whole, lengths):
            if name in flat:
                raise InvalidInputError(f"two fields are named {name!r}; rename one of them.")
            flat[name] = value
    except RecursionError:
        raise InvalidInputError("it is nested too deeply; write fewer levels.") from None
    return flat


def _parts(
    values: Record, whole: Collection[str | None], lengths: Mapping[str, int]
) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name in whole:
            yield name, value
        elif isinstance(value, dict):
            inner = {f"{name}.{key}": each for key, each in value.items()}
            yield from _parts(inner, whole, lengths)
        elif isinstance(value, list):
            if value and all(isinstance(each, int | float) for each in value):
                check_length(name, len(value), lengths)
            inner = {f"{name}[{place}]": each for place, each in enumerate(value)}
            yield from _parts(inner, whole, lengths)
        else:
            yield name, value
