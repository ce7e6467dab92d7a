"""How fast and how well: both sides measured in one run, reported as ratios and differences."""

from minout.bench import engine
from minout.bench.paper import Growth, Speed, check_stored, growth, speed

__all__ = ["Growth", "Speed", "check_stored", "engine", "growth", "speed"]
