"""The learner: where weights, index, memory, policy and rule meet."""

from minout.learner._audit import Audit
from minout.learner._explain import Explanation, Support
from minout.learner._reach import Interfered, Sets
from minout.learner._suspects import Suspect
from minout.learner.certificate import Certificate, Consolidation, Refresh
from minout.learner.learner import Learner
from minout.learner.report import Pulls, StepReport, UnitReport
from minout.learner.rows import many_rows, one_row
from minout.learner.sharing import TableLearner, TableReport

__all__ = [
    "Audit",
    "Certificate",
    "Consolidation",
    "Explanation",
    "Interfered",
    "Learner",
    "Pulls",
    "Refresh",
    "Sets",
    "StepReport",
    "Support",
    "Suspect",
    "TableLearner",
    "TableReport",
    "UnitReport",
    "many_rows",
    "one_row",
]
