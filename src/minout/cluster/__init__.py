"""Executors: who computes what can be divided; the result is the same to the last bit.

`Serial()` is one thread of this process, `Local(workers)` processes on this machine, and
`Ray(address)` a Ray cluster. Pass one to `consolidate` or to `MinoutClassifier.fit`.
"""

from minout.cluster.executors import Executor, Ray, Serial
from minout.cluster.local import Local
from minout.cluster.predictor import Predictor

__all__ = ["Executor", "Local", "Predictor", "Ray", "Serial"]
