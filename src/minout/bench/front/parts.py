"""The numbers of the front door: what the classifier costs, needs and gives without tuning."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from minout import results
from minout.bench.engine.run import Measured
from minout.bench.engine.table import Claim, Table
from minout.bench.engine.tell import Tell, to_nobody
from minout.bench.front import files, overhead, sensible, start
from minout.bench.front.sets import SETS
from minout.errors import InvalidInputError


@dataclass(frozen=True)
class Settings:
    """Says how much of everything is measured."""

    sets: tuple[str, ...] = tuple(SETS)
    seeds: tuple[int, ...] = (0, 1, 2)
    calls: int = 2_000
    imports: int = 9
    csv_rows: int = 20_000


class Part(NamedTuple):
    """Is a name and three steps: measure rows, write them out, judge them."""

    name: str
    measure: Callable[[Settings, Tell], Sequence[Any]]
    tables: Callable[[Any], list[Table]]
    claims: Callable[[Any], list[Claim]]


PARTS = (
    Part(
        "overhead",
        lambda s, tell: overhead.measure(s.calls, tell),
        overhead.tables,
        overhead.claims,
    ),
    Part("start", lambda s, tell: start.measure(s.imports, tell), start.tables, start.claims),
    Part("files", lambda s, tell: files.measure(s.csv_rows, tell), files.tables, files.claims),
    Part(
        "tables",
        lambda s, tell: sensible.measure(s.sets, s.seeds, tell),
        sensible.tables,
        sensible.claims,
    ),
)


def chosen_parts(asked: Sequence[str]) -> list[Part]:
    """Picks parts by name, several in a word if commas part them; all if none.

    >>> [part.name for part in chosen_parts(["tables,start"])]
    ['start', 'tables']
    """
    words = [word.strip() for each in asked for word in each.split(",") if word.strip()]
    names = [part.name for part in PARTS]
    if unknown := [word for word in words if word not in names]:
        raise InvalidInputError(f"There is no part {unknown[0]!r}; ask for {', '.join(names)}.")
    return [part for part in PARTS if not words or part.name in words]


def run(
    parts: Sequence[Part], settings: Settings | None = None, tell: Tell = to_nobody
) -> Iterator[Measured]:
    """Yields each part when it is done."""
    settings = Settings() if settings is None else settings
    for part in parts:
        rows = part.measure(settings, tell)
        stamped = []
        for row in rows:
            values = row._asdict()
            seed = values.pop("seed", 0)
            stamped.append(results.row(f"front {part.name}", asdict(settings), seed, values))
        yield Measured(part.name, stamped, part.tables(rows), part.claims(rows))
