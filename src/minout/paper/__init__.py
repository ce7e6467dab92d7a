"""The paper's system: minout units, gradient training, rehearsal, bookkeeping and figures.

"Conditional Computation for Continual Learning" (Lin, Fu, Bengio). `PaperLearner` is the learner;
`minout.paper.evaluate` measures it while it learns; `minout.paper.figures` makes the figures.
"""

from minout.paper.index import Index, Partition
from minout.paper.learner import PaperLearner
from minout.paper.rehearsal import AtRisk, Closed, Conditional, NoRehearsal, Policy, Uniform
from minout.paper.report import PaperReport, UnitReport, WeightChanges
from minout.paper.rule import GradientRule
from minout.paper.sharing import TableLearner, TableReport

__all__ = [
    "AtRisk",
    "Closed",
    "Conditional",
    "GradientRule",
    "Index",
    "NoRehearsal",
    "PaperLearner",
    "PaperReport",
    "Partition",
    "Policy",
    "TableLearner",
    "TableReport",
    "Uniform",
    "UnitReport",
    "WeightChanges",
]
