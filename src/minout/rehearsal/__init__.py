"""Whom to rehearse while a new example is learned."""

from minout.rehearsal.at_risk import AtRisk, Policy
from minout.rehearsal.closed import Closed
from minout.rehearsal.conditional import Conditional
from minout.rehearsal.none import NoRehearsal
from minout.rehearsal.uniform import Uniform

__all__ = ["AtRisk", "Closed", "Conditional", "NoRehearsal", "Policy", "Uniform"]
