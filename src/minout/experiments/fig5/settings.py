"""Ten per class. Rate, reduction and initial scale: see docs/figures.md, "the map"."""

from minout.experiments.comparison import Settings

PAPER = Settings(per_class=10, budget=10, learning_rate=0.1, reduction="mean")
TESTING = Settings(per_class=3, budget=3, neurons=8, learning_rate=0.1, reduction="mean")
