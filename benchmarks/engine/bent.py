"""Curved classes: our accuracy, streamed and consolidated, beside tuned batch learners."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from benchmarks.curved import curved_split
from benchmarks.data import Array, Split, split_set
from benchmarks.engine.inputs import Inputs, draw_per_class
from benchmarks.engine.settings import Settings
from benchmarks.inside import form
from benchmarks.learners import STRAIGHT, consolidated_learner, new_learner, teach
from benchmarks.parts import Progress
from benchmarks.rivals import tuned_batch_learners
from benchmarks.tables import Goal, Table, mean_and_error, standard_error
from minout.demo.data import make_data
from minout.demo.settings import Settings as DemoSettings
from minout.metrics import accuracy

FOLDS = 3
TEST_SHARE = 0.3
DEMO, PIXELS, SCATTERING = "demo's digits", "pixels", "scattering"
DRAWN = ("moons", "checkerboard")
LEAST_PERCENT = {"digits": 98.6, DEMO: 95.5, f"{PIXELS}, 100 per class": 90.5}
RIVALS = {"3-NN": "nearest", "SVM": "svm", "forest": "forest", "boosting": "boosting"}
"""The batch learners, and the fields with their accuracies."""
FORMS_SHOWN = 3


class BentRow(NamedTuple):
    """One split of one set, taught in label order with default settings: accuracies.

    `streamed` is before consolidate(), `consolidated` after it, `straight` consolidated with one
    region and no hat functions. Batch learners are None where they were not measured; `rival` is
    the one with the best cross-validated accuracy on the training rows.
    """

    seed: int
    name: str
    examples: int
    columns: int
    classes: int
    streamed: float
    consolidated: float
    straight: float
    nearest: float | None
    svm: float | None
    forest: float | None
    boosting: float | None
    rival: str | None
    regions: int
    hats: int
    seconds: float

    @property
    def rival_accuracy(self) -> float | None:
        """The accuracy of the batch learner that the training rows choose."""
        return None if self.rival is None else getattr(self, RIVALS[self.rival])


class _Job(NamedTuple):
    """One split of one set to measure; images are float32, tables float64."""

    name: str
    seed: int
    draw: Callable[[], Split]
    dtype: Literal["float32", "float64"] = "float64"
    has_rivals: bool = True


def measure(inputs: Inputs, progress: Progress) -> list[BentRow]:
    """Measure every split of every set."""
    inputs.compile(progress)
    jobs = _jobs(inputs, progress)
    rows = []
    for done, job in enumerate(jobs):
        progress(f"bent, {job.name}", done, len(jobs))
        rows.append(_measure_one(job, job.draw(), inputs.settings))
    return rows


def _jobs(inputs: Inputs, progress: Progress) -> list[_Job]:
    settings = inputs.settings
    jobs = [
        _Job(name, seed, partial(split_set, name, seed, test_share=TEST_SHARE))
        for name, splits in settings.bent_sets
        for seed in range(splits)
    ]
    jobs.append(_Job(DEMO, settings.seed, partial(_demo_digits, settings)))
    for name in DRAWN:
        for seed in range(settings.curved_draws):
            sizes = settings.curved_rows, settings.table_test
            draw = partial(_drawn, name, *sizes, seed)
            jobs.append(_Job(name, seed, draw))
    for features, sizes in ((PIXELS, (settings.pixels,)), (SCATTERING, settings.small)):
        for each in sizes:
            for seed in settings.seeds:
                draw = partial(_images, inputs, features, each, seed, progress)
                name = f"{features}, {each} per class"
                jobs.append(_Job(name, seed, draw, "float32", features == PIXELS))
    return jobs


def _drawn(name: str, rows: int, test_rows: int, seed: int) -> Split:
    return curved_split(name, rows, test_rows, np.random.default_rng(seed))


def _demo_digits(settings: Settings) -> Split:
    # Sorted by label; the last fifth of each class, the latest scans, is for testing.
    demo = DemoSettings(per_class=settings.demo_each, wrong=settings.demo_wrong)
    made = make_data(demo)
    pixels = [each.astype(np.float64) for each in (made.pixels, made.test_pixels)]
    labels = [np.array(each, dtype=np.int64) for each in (made.labels, made.test_labels)]
    return Split(pixels[0], labels[0], pixels[1], labels[1])


def _images(inputs: Inputs, features: str, each: int, seed: int, progress: Progress) -> Split:
    data = inputs.features("raw" if features == PIXELS else features, progress)
    drawn = draw_per_class(data.labels, each, np.random.default_rng(seed))
    return Split(data.rows[drawn], data.labels[drawn], data.test_rows, data.test_labels)


def _measure_one(job: _Job, data: Split, settings: Settings) -> BentRow:
    def right(predict: Callable[[Array], Array]) -> float:
        return accuracy(predict(data.test_rows), data.test_labels)

    learner = new_learner(dtype=job.dtype)
    steps = teach(learner, data.rows, data.labels)
    streamed = right(learner.predict)
    learner.consolidate()
    straight = consolidated_learner(STRAIGHT, data.rows, data.labels, dtype=job.dtype)
    rivals, best = dict.fromkeys(RIVALS.values()), None
    if job.has_rivals:
        sizes = {"folds": FOLDS, "trees": settings.trees, "jobs": settings.jobs}
        tuned = tuned_batch_learners(data.rows, data.labels, **sizes)
        rivals = {RIVALS[name]: right(model.predict) for name, model in tuned.items()}
        best = max(tuned, key=lambda name: tuned[name].best_score_)
    return BentRow(
        job.seed,
        job.name,
        *data.rows.shape,
        len(learner.classes),
        streamed,
        right(learner.predict),
        right(straight.predict),
        **rivals,
        rival=best,
        **form(learner)._asdict(),
        seconds=float(steps.seconds.sum()),
    )


def tables(rows: Sequence[BentRow]) -> list[Table]:
    """Return a line for each set, the mean over its splits."""
    head = (
        "set",
        "rows × columns, classes",
        "splits",
        "streamed",
        "consolidated",
        "1 region, no hats",
        *RIVALS,
        "chosen rival",
        "to chosen rival",
        "regions × hats",
    )
    note = (
        "Label order, default settings; per cent, mean ± standard error over the splits. Batch "
        f"learners are tuned by {FOLDS}-fold cross-validation on the training rows, which also "
        "chooses a rival for each split. Last column: what was chosen, and in how many splits."
    )
    return [Table("17. Curved classes", head, [_line(some) for some in _groups(rows)], note)]


def _line(some: list[BentRow]) -> tuple[str, ...]:
    first = some[0]
    return (
        first.name,
        f"{first.examples:,} × {first.columns}, {first.classes}",
        str(len(some)),
        *(_cell(some, name) for name in ("streamed", "consolidated", "straight")),
        *(_cell(some, name) for name in RIVALS.values()),
        _cell(some, "rival_accuracy"),
        "–" if first.rival is None else mean_and_error(_differences(some, "rival_accuracy")),
        _forms(some),
    )


def _cell(some: list[BentRow], name: str) -> str:
    if getattr(some[0], name) is None:
        return "–"
    return mean_and_error([100 * getattr(row, name) for row in some])


def _forms(some: list[BentRow]) -> str:
    counts = Counter(f"{row.regions} × {row.hats}" for row in some)
    shown = [f"{what}: {count}" for what, count in counts.most_common(FORMS_SHOWN)]
    others = len(some) - sum(count for _, count in counts.most_common(FORMS_SHOWN))
    return "; ".join([*shown, *([f"others: {others}"] if others else [])])


def goals(rows: Sequence[BentRow]) -> list[Goal]:
    """Return the goals of each set, and for all that the stream is not far from consolidated."""
    return [goal for some in _groups(rows) for goal in (*_accuracy_goals(some), _stream_goal(some))]


def _accuracy_goals(some: list[BentRow]) -> list[Goal]:
    name = some[0].name
    if name in LEAST_PERCENT:
        least, mean = LEAST_PERCENT[name], 100 * float(np.mean([row.consolidated for row in some]))
        return [Goal("bent", f"{name}: ≥ {least} %", f"{mean:.2f} %", mean >= least)]
    if name in DRAWN:
        ahead, rival = min((float(np.mean(_differences(some, RIVALS[r]))), r) for r in RIVALS)
        what = f"{name}: within 1 point of the best batch learner"
        return [Goal("bent", what, f"{ahead:+.2f} points: {rival}", ahead >= -1.0)]
    if name.startswith(SCATTERING):
        return [_not_worse(some, "straight", "1 region without hats")]
    if some[0].rival is not None and not name.startswith(PIXELS):
        return [_not_worse(some, "rival_accuracy", "the chosen rival")]
    return []


def _not_worse(some: list[BentRow], than: str, words: str) -> Goal:
    ahead = _differences(some, than)
    mean, error = float(np.mean(ahead)), standard_error(ahead)
    what = f"{some[0].name}: not two standard errors below {words}"
    return Goal("bent", what, f"{mean:+.2f} ± {error:.2f} points", mean >= -2.0 * error)


def _stream_goal(some: list[BentRow]) -> Goal:
    ahead = 100 * float(np.mean([row.streamed - row.consolidated for row in some]))
    what = f"{some[0].name}: stream at most 1 point below consolidated"
    return Goal("bent", what, f"{ahead:+.2f} points", ahead >= -1.0)


def _differences(some: list[BentRow], than: str) -> list[float]:
    return [100 * (row.consolidated - getattr(row, than)) for row in some]


def _groups(rows: Sequence[BentRow]) -> list[list[BentRow]]:
    names = dict.fromkeys(row.name for row in rows)
    return [[row for row in rows if row.name == name] for name in names]
