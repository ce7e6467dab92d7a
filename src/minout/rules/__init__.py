"""How weights move: one unit or separator, and the rows it is given."""

from minout.rules.batch import solve_and_look
from minout.rules.choice import Choice, Shape, choose, picked, shares
from minout.rules.gradient import GradientRule
from minout.rules.margin import MarginRule
from minout.rules.pictures import Pictures
from minout.rules.pool import Ground, Pool

__all__ = [
    "Choice",
    "GradientRule",
    "Ground",
    "MarginRule",
    "Pictures",
    "Pool",
    "Shape",
    "choose",
    "picked",
    "shares",
    "solve_and_look",
]
