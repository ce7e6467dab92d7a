"""The learner: where network, index, memory, policy and rule meet."""

from minout.learner.learner import Learner
from minout.learner.report import Pulls, StepReport, UnitReport
from minout.learner.rows import many_rows, one_row
from minout.learner.sharing import TableLearner, TableReport

__all__ = [
    "Learner",
    "Pulls",
    "StepReport",
    "TableLearner",
    "TableReport",
    "UnitReport",
    "many_rows",
    "one_row",
]
