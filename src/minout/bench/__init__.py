"""How fast: both sides measured in one run, reported as ratios."""

from minout.bench.paper import Growth, Speed, growth, speed

__all__ = ["Growth", "Speed", "growth", "speed"]
