"""Ten per class. Rate, reduction and initial scale: see docs/figures.md, "the map".

The random policies rehearse 14, as many as the conditional one does on average (13.5), so that the
budgets are equal. With 10, as in the paper, or with 20 they end within 4 points of this.
"""

from minout.experiments.comparison import Settings

PAPER = Settings(per_class=10, budget=14, learning_rate=0.1, reduction="mean")
TESTING = Settings(per_class=3, budget=3, neurons=8, learning_rate=0.1, reduction="mean")
