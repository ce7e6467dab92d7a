"""The exact engine in ten numbers: `minout bench engine`."""

from minout.bench.engine.parts import PARTS, Part, chosen_parts
from minout.bench.engine.run import Measured, run
from minout.bench.engine.settings import FULL, SAMPLE, TESTING, Settings, settings_for
from minout.bench.engine.table import Claim, Table, fitting, markdown, of_claims

__all__ = [
    "FULL",
    "PARTS",
    "SAMPLE",
    "TESTING",
    "Claim",
    "Measured",
    "Part",
    "Settings",
    "Table",
    "chosen_parts",
    "fitting",
    "markdown",
    "of_claims",
    "run",
    "settings_for",
]
