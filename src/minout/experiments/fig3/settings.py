"""One hundred per class, conditional rehearsal: the settings of Fig. 4."""

from minout.experiments.comparison import Settings

PAPER = Settings()
TESTING = Settings(per_class=4, budget=4, neurons=8)
