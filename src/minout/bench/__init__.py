"""How fast: both sides measured in one run, reported as ratios."""

from minout.bench.paper import Growth, Speed, check_stored, growth, speed

__all__ = ["Growth", "Speed", "check_stored", "growth", "speed"]
