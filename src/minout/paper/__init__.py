"""The paper's system: minout units, gradient training, rehearsal, bookkeeping and figures.

"Conditional Computation for Continual Learning" (Lin, Fu, Bengio). With the paper in hand, read
`sharing` (Section 1 and 2.1), `equations` (2.2 and the appendix), `index` (the appendix's
bookkeeping), `specification` (Section 3), `network` (the baseline), then `figures`. `PaperLearner`
is the specification made fast.
"""

from minout.paper.index import Index, Partition
from minout.paper.learner import PaperLearner
from minout.paper.report import PaperReport, UnitReport, WeightChanges
from minout.paper.sharing import TableLearner, TableReport
from minout.paper.specification import GradientRule

__all__ = [
    "GradientRule",
    "Index",
    "PaperLearner",
    "PaperReport",
    "Partition",
    "TableLearner",
    "TableReport",
    "UnitReport",
    "WeightChanges",
]
