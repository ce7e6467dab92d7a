"""The numbers that can be asked for, each by its name or by its number in the issue."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minout.bench.engine import (
    forget,
    growth,
    many,
    memory,
    noise,
    order,
    ordinary,
    small,
    stream,
    stream_words,
)
from minout.bench.engine.material import Material
from minout.bench.engine.table import Claim, Table
from minout.bench.engine.tell import Tell
from minout.errors import InvalidInputError


class Part(NamedTuple):
    """Is a name, its numbers, and three steps: measure rows, write them out, judge them."""

    name: str
    numbers: tuple[int, ...]
    measure: Callable[[Material, Tell], Sequence[Any]]
    tables: Callable[[Any], list[Table]]
    claims: Callable[[Any], list[Claim]]


PARTS = (
    Part("stream", (1, 2), stream.measure, stream_words.tables, stream_words.claims),
    Part("growth", (3,), growth.measure, growth.tables, growth.claims),
    Part("small", (4,), small.measure, small.tables, small.claims),
    Part("order", (5,), order.measure, order.tables, order.claims),
    Part("forget", (6,), forget.measure, forget.tables, forget.claims),
    Part("noise", (7,), noise.measure, noise.tables, noise.claims),
    Part("tables", (8,), ordinary.measure, ordinary.tables, ordinary.claims),
    Part("many", (9,), many.measure, many.tables, many.claims),
    Part("memory", (10,), memory.measure, memory.tables, memory.claims),
)


def chosen_parts(asked: Sequence[str]) -> list[Part]:
    """Picks parts by names or numbers, several in a word if commas part them; all if none.

    >>> [part.name for part in chosen_parts(["10,small", "1"])]
    ['stream', 'small', 'memory']
    """
    words = [word.strip() for each in asked for word in each.split(",") if word.strip()]
    known = {part.name for part in PARTS} | {str(n) for part in PARTS for n in part.numbers}
    if unknown := [word for word in words if word not in known]:
        raise InvalidInputError(
            f"There is no number {unknown[0]!r}; ask for 1 to 10 or for "
            f"{', '.join(part.name for part in PARTS)}."
        )
    return [
        part
        for part in PARTS
        if not words or part.name in words or any(str(n) in words for n in part.numbers)
    ]
