"""One hundred per class. Rate, reduction and initial scale: see docs/figures.md, "the map"."""

from minout.experiments.comparison import Settings

PAPER = Settings(per_class=100, budget=100, learning_rate=0.01, reduction="sum")
TESTING = Settings(per_class=4, budget=4, neurons=8)
