"""A list in one field stands for as many columns: x is x[0], x[1], …"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from minout.errors import InvalidInputError

_ELEMENT = re.compile(r"(.*)\[\d+\]")


def columns_of_list(name: str, length: int) -> list[str]:
    """Names the columns that a list stands for.

    >>> columns_of_list("x", 2)
    ['x[0]', 'x[1]']
    """
    return [f"{name}[{place}]" for place in range(length)]


def lengths_of_lists(columns: Iterable[str]) -> dict[str, int]:
    """Finds the lists that columns came from, and how long they were.

    >>> lengths_of_lists(["x[0]", "x[1]", "age"])
    {'x': 2}
    """
    found = (_ELEMENT.fullmatch(column) for column in columns)
    return dict(Counter(match[1] for match in found if match is not None))


def refuse_other_length(name: str, length: int, lengths: Mapping[str, int]) -> None:
    """Refuses a list that is longer or shorter than it was."""
    if lengths.get(name, length) != length:
        raise InvalidInputError(
            f"{name!r} is a list of {length}, but {lengths[name]} numbers are expected."
        )
