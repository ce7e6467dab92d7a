"""The exact engine: one state, steps that return changes, and queries that only read.

It does not deal with files, locks or scikit-learn.
"""

from minout.engine.audit import Audit, audit
from minout.engine.choice import Choice
from minout.engine.conflicts import Conflict, conflicts
from minout.engine.consolidate import consolidate, rebuilt
from minout.engine.examples import LARGEST_WEIGHT, LEAST_WEIGHT, Examples
from minout.engine.expected import ClassAccuracy, ExpectedAccuracy, expected_accuracy
from minout.engine.explain import (
    Explanation,
    PairSeparator,
    Support,
    SupportVector,
    explain,
    pair_separator,
)
from minout.engine.folds import softmax
from minout.engine.heap import trim_heap
from minout.engine.inspection import Inspection, inspect
from minout.engine.interference import Sets, WhatIf, partition, what_if
from minout.engine.label_errors import (
    LIKELY,
    ClassErrors,
    LabelErrors,
    label_errors,
    label_probabilities,
    left_out_probabilities,
)
from minout.engine.packing import (
    SHARED,
    belongs_to,
    packed,
    pairs_with_weights,
    shared,
    summary,
    unpacked,
)
from minout.engine.prediction import Winners, winners
from minout.engine.records import Columns, gathered, numbered, renumbered, separator_record
from minout.engine.regions import LONGEST_LABEL
from minout.engine.reports import (
    NOTHING_MOVED,
    Certificate,
    Consolidation,
    Refresh,
    StepReport,
)
from minout.engine.rollback import Rollback
from minout.engine.settings import Settings
from minout.engine.state import Delta, State, Widths, apply, make_room
from minout.engine.step import forget, relabel, rewindow, settle_pending, teach, update
from minout.engine.suspects import Suspect, suspects
from minout.engine.validation import MalformedError, coded_with
from minout.engine.widening import widened, with_rows

__all__ = [
    "LARGEST_WEIGHT",
    "LEAST_WEIGHT",
    "LIKELY",
    "LONGEST_LABEL",
    "NOTHING_MOVED",
    "SHARED",
    "Audit",
    "Certificate",
    "Choice",
    "ClassAccuracy",
    "ClassErrors",
    "Columns",
    "Conflict",
    "Consolidation",
    "Delta",
    "Examples",
    "ExpectedAccuracy",
    "Explanation",
    "Inspection",
    "LabelErrors",
    "MalformedError",
    "PairSeparator",
    "Refresh",
    "Rollback",
    "Sets",
    "Settings",
    "State",
    "StepReport",
    "Support",
    "SupportVector",
    "Suspect",
    "WhatIf",
    "Widths",
    "Winners",
    "apply",
    "audit",
    "belongs_to",
    "coded_with",
    "conflicts",
    "consolidate",
    "expected_accuracy",
    "explain",
    "forget",
    "gathered",
    "inspect",
    "label_errors",
    "label_probabilities",
    "left_out_probabilities",
    "make_room",
    "numbered",
    "packed",
    "pair_separator",
    "pairs_with_weights",
    "partition",
    "rebuilt",
    "relabel",
    "renumbered",
    "rewindow",
    "separator_record",
    "settle_pending",
    "shared",
    "softmax",
    "summary",
    "suspects",
    "teach",
    "trim_heap",
    "unpacked",
    "update",
    "what_if",
    "widened",
    "winners",
    "with_rows",
]
