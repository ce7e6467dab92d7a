"""Benchmark of the exact engine: `python -m benchmarks engine`."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from benchmarks.engine import (
    bent,
    codes,
    drift,
    exactness,
    expected,
    few_examples,
    forms,
    label_errors,
    many_classes,
    memory,
    overlap,
    prediction,
    profile,
    settles,
    stream,
    stream_tables,
    tabular,
    thousand,
    weights,
    window,
    wrong_labels,
)
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.settings import FULL, SAMPLE, TESTING, Settings, settings_for
from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts
from minout.streams import Data

__all__ = ["FULL", "PARTS", "SAMPLE", "TESTING", "Settings", "run", "settings_for"]

PARTS = (
    Part("stream", stream.measure, stream_tables.tables, stream_tables.goals, (1, 2)),
    Part(
        "growth",
        stream.measure_growth,
        stream_tables.growth_tables,
        stream_tables.growth_goals,
        (3,),
    ),
    Part("small", few_examples.measure, few_examples.tables, few_examples.goals, (4,)),
    Part(
        "order",
        exactness.measure_order,
        exactness.order_tables,
        exactness.order_goals,
        numbers=(5,),
    ),
    Part(
        "forget",
        exactness.measure_forgetting,
        exactness.forgetting_tables,
        exactness.forgetting_goals,
        (6,),
    ),
    Part("noise", wrong_labels.measure, wrong_labels.tables, wrong_labels.goals, (7,)),
    Part("tables", tabular.measure, tabular.tables, tabular.goals, (8,)),
    Part("many", many_classes.measure, many_classes.tables, many_classes.goals, (9,)),
    Part("memory", memory.measure, memory.tables, memory.goals, (10,)),
    Part("predict", prediction.measure, prediction.tables, prediction.goals, (11,)),
    Part("overlap", overlap.measure, overlap.tables, overlap.goals, (12,)),
    Part("settle", settles.measure, settles.tables, settles.goals, (13,)),
    Part("thousand", thousand.measure, thousand.tables, thousand.goals, (14,)),
    Part("expected", expected.measure, expected.tables, expected.goals, (15,)),
    Part("profile", profile.measure, profile.tables, profile.goals, (16,)),
    Part("bent", bent.measure, bent.tables, bent.goals, (17,)),
    Part("forms", forms.measure, forms.tables, forms.goals, (18,)),
    Part("drift", drift.measure, drift.tables, drift.goals, (19,)),
    Part("window", window.measure, window.tables, window.goals, (20,)),
    Part("weights", weights.measure, weights.tables, weights.goals, (21,)),
    Part("codes", codes.measure, codes.tables, codes.goals, (22,)),
    Part("labels", label_errors.measure, label_errors.tables, label_errors.goals, (23,)),
)


def run(
    data: Data,
    parts: Sequence[Part],
    settings: Settings | None = None,
    progress: Progress = no_progress,
) -> Iterator[Measured]:
    """Run parts one after the other on the same data and yield each when it is done.

    Features are computed once for all parts. Without settings, the sizes are those that suit the
    data.
    """
    settings = settings_for(data) if settings is None else settings
    about = asdict(settings) | {"data": data.name, "cores": os.cpu_count()}
    return run_parts("engine", parts, Inputs(data, settings), about, progress)
