"""The exact engine: immutable states, steps from one to the next, and queries.

It does not deal with files, locks or scikit-learn.
"""

from minout.engine.audit import Audit, audit
from minout.engine.choice import Choice
from minout.engine.conflicts import Conflict, conflicts
from minout.engine.consolidate import consolidate, rebuilt
from minout.engine.examples import LARGEST_WEIGHT, LEAST_WEIGHT, Columns, Examples
from minout.engine.expected import ExpectedAccuracy, expected_accuracy
from minout.engine.explain import Explanation, PairSeparator, Support, explain, pair_separator
from minout.engine.inspection import Inspection, inspect
from minout.engine.interference import Sets, WhatIf, partition, what_if
from minout.engine.label_errors import (
    LabelErrors,
    Suspect,
    label_errors,
    label_probabilities,
    left_out_probabilities,
    suspects,
)
from minout.engine.packing import (
    SHARED,
    ExampleRecords,
    NotAnUpdateError,
    Update,
    restored,
    separator_record,
    shared,
    shared_objects,
    summary,
    support_size,
    updated,
)
from minout.engine.prediction import winners
from minout.engine.regions import LONGEST_LABEL
from minout.engine.reports import NOTHING_MOVED, Certificate, Consolidation, Refresh, StepReport
from minout.engine.separators import regions_of
from minout.engine.settings import Settings
from minout.engine.state import State, Step, Widths
from minout.engine.step import forget, relabel, rewindow, settle_pending, teach, update
from minout.engine.validation import (
    MalformedError,
    SeparatorRecord,
    check_about,
    coded_with,
    expect,
)
from minout.engine.widening import widened, with_rows
from minout.maths import softmax
