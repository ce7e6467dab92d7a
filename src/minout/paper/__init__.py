"""The paper's system: minout units, gradient training, rehearsal, bookkeeping and figures.

"Conditional Computation for Continual Learning" (Lin, Fu, Bengio). With the paper in hand, read
`sharing` (Section 1 and 2.1, and the network of the last appendix), `equations` (2.2 and the
appendix), `index` (S1, S2 and S3, the appendix's bookkeeping), `rule`, `learner` and
`kernels/training.py` (Section 3), then `figures`.
"""

from minout.paper.index import Index, Partition
from minout.paper.learner import PaperLearner
from minout.paper.report import PaperReport, UnitReport, WeightChanges
from minout.paper.rule import GradientRule
from minout.paper.sharing import TableLearner, TableReport

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
