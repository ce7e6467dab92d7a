"""The baseline without rehearsal."""

from dataclasses import dataclass

import numpy as np

from minout._typing import Ints
from minout.rehearsal.at_risk import AtRisk


@dataclass(frozen=True)
class NoRehearsal:
    """Rehearses nothing: what is disturbed stays disturbed."""

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Lists nothing."""
        del at_risk, rng
        return np.empty(0, dtype=np.int64)
