"""Runs parts one after the other on the same data; every row knows where it came from."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from minout import results
from minout.bench.engine.material import Material
from minout.bench.engine.parts import Part
from minout.bench.engine.settings import Settings, settings_for
from minout.bench.engine.table import Claim, Table
from minout.bench.engine.tell import Tell, to_nobody
from minout.streams import Data


class Measured(NamedTuple):
    """Is what one part gave: rows for the disk, tables and claims for the reader."""

    name: str
    rows: list[results.Row]
    tables: list[Table]
    claims: list[Claim]


def run(
    data: Data, parts: Sequence[Part], settings: Settings | None = None, tell: Tell = to_nobody
) -> Iterator[Measured]:
    """Yields each part when it is done; features are computed once for all.

    Without settings, the sizes are those that suit the data.
    """
    material = Material(data, settings_for(data) if settings is None else settings)
    for part in parts:
        rows = part.measure(material, tell)
        stamped = [_stamped(part.name, row, material) for row in rows]
        yield Measured(part.name, stamped, part.tables(rows), part.claims(rows))


def _stamped(part: str, row: Any, material: Material) -> results.Row:
    settings = asdict(material.settings)
    settings |= {"data": material.data.name, "cores": os.cpu_count()}
    values = row._asdict()
    seed = values.pop("seed", material.settings.seed)
    return results.row(f"engine {part}", settings, seed, {"row": type(row).__name__, **values})
