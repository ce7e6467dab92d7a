"""The exact engine: immutable states, steps from one to the next, and queries.

It does not deal with files, locks or scikit-learn.
"""

from minout.core.audit import Audit, audit
from minout.core.calibration import probabilities
from minout.core.catch_up import can_catch_up, caught_up
from minout.core.choice import Choice
from minout.core.conflicts import Conflict, conflicts
from minout.core.consolidate import consolidate, rebuilt, unsolved
from minout.core.examples import LARGEST_WEIGHT, LEAST_WEIGHT, Columns, Examples
from minout.core.expected import ExpectedAccuracy, expected_accuracy
from minout.core.explain import Explanation, PairSeparator, Support, explain, pair_separator
from minout.core.inspection import Inspection, inspect
from minout.core.interference import Sets, WhatIf, partition, what_if
from minout.core.label_errors import (
    LabelErrors,
    Suspect,
    label_errors,
    label_probabilities,
    left_out_probabilities,
    suspects,
)
from minout.core.packing import (
    SHARED,
    NotAnUpdateError,
    Update,
    arrays_of,
    facts_of,
    restored,
    separator_record,
    shared,
    support_size,
)
from minout.core.prediction import winners
from minout.core.regions import LONGEST_LABEL, regions_of
from minout.core.reports import NOTHING_MOVED, Certificate, Consolidation, Refresh, StepReport
from minout.core.settings import Settings
from minout.core.state import State, Step, Widths
from minout.core.step import forget, relabel, rewindow, settle_pending, teach, update
from minout.core.validation import (
    Facts,
    MalformedError,
    SeparatorRecord,
    coded_with,
    expect,
    facts_from,
)
from minout.core.widening import widened, with_rows
from minout.core.window import outside
from minout.core.work import HERE, Executor, Work
