"""The front door in numbers: `minout bench classifier`."""

from minout.bench.front.parts import PARTS, Part, Settings, chosen_parts, run

__all__ = ["PARTS", "Part", "Settings", "chosen_parts", "run"]
