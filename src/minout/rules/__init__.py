"""How weights move: one unit and the rows it is given."""

from minout.rules.gradient import GradientRule

__all__ = ["GradientRule"]
