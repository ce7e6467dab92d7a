"""The network of the appendix, 784-128-10, taught one example at a time by plain SGD.

The learning rate is the same for both streams and was chosen without the test set, by
`run.held_out_accuracy`: one pass over a random 3,200 of the sample's 4,000 training rows, judged on
the other 800 (in per cent, mean of seeds 0 to 4; the seeds spread by 1 to 3 points, less than that
where it is at chance):

    rate      0.0001  0.001  0.002  0.005  0.01  0.02  0.05   0.1   0.2
    shuffled    30.9   81.7   85.7   88.4  89.1  89.2  87.5  78.8  22.5
    ordered     24.1    9.8    9.8    9.8   9.8   9.8   9.8   9.8   9.8

From 0.005 to 0.02 the seeds decide more than the rate; 0.01 is the middle. In label order no rate
helps: one that forgets less has learned less.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Says what is taught and how often it is measured; `per_class` None is everything."""

    hidden: int = 128
    learning_rate: float = 0.01
    per_class: int | None = None
    points: int = 100


PAPER = Settings()
TESTING = Settings(per_class=200, points=10)
