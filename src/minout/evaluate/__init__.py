"""Learn, then measure: after every single example, or after every task."""

from minout.evaluate.board import Board
from minout.evaluate.tasks import Teachable, task_matrix
from minout.evaluate.watch import Curves, watch

__all__ = ["Board", "Curves", "Teachable", "task_matrix", "watch"]
