"""Load a model, and run queries on it: on the rows of a file, a batch at a time, or on itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from minout.cli.file_notes import FileOptions, open_reader, read_notes
from minout.cli.output import plural
from minout.cli.skipped import SkippedRows
from minout.cli.table_rows import bad_row
from minout.engine import ExpectedAccuracy, LabelErrors
from minout.errors import InvalidInputError, MissingDataError
from minout.features import FeatureMap, UnknownMap
from minout.learner import Learner
from minout.streams.files import BadRowError, Example, Reader

BATCH = 256
FEW = 5
"""With fewer examples per feature, metric and prior fit the examples that are left out."""
T = TypeVar("T")


def load_model(model: Path, features: FeatureMap | None = None) -> Learner:
    """Load the newest state of a model, also while another process teaches it."""
    with open_model(model, read_only=True, features=features) as learner:
        return learner


def open_model(model: Path, **options: Any) -> Learner:
    """Open a model with `Learner.open`; refuse one whose notes on files are malformed.

    One that is only read must have been taught. A function that made its rows is not needed, until
    rows are mapped: see `require_features`.
    """
    options["features"] = options.get("features") or UnknownMap()
    learner = Learner.open(model, **options)
    try:
        if options.get("read_only") and learner.is_new and not learner.notes:
            raise MissingDataError(f"There is no model in {model}; `minout learn` creates one.")
        read_notes(learner)
    except BaseException:
        learner.close()
        raise
    return learner


def load_file(file: Path) -> Learner:
    """Load a model's file; refuse one whose notes on files are malformed."""
    learner = Learner.load(file, UnknownMap())
    read_notes(learner)
    return learner


def require_features(learner: Learner) -> Learner:
    """Return the learner; raise an error if the user's function that it needs was not named."""
    if isinstance(learner.features, UnknownMap):
        raise InvalidInputError(
            f"This model was taught with {learner.features.fingerprint}; name the function with "
            "--features package.module:function, because minout never imports code that only a "
            "model's folder names."
        )
    return learner


def require_examples(learner: Learner) -> Learner:
    """Return the learner, or refuse one from which everything was forgotten."""
    if not len(learner):
        raise InvalidInputError(
            "This model has no examples, so there is nothing to predict; teach it some first."
        )
    return learner


def expected_accuracy(learner: Learner) -> ExpectedAccuracy | None:
    """Return the expected accuracy; None if there are fewer than two labels."""
    return learner.expected_accuracy() if len(learner.classes) > 1 else None


def expected_for_json(expected: ExpectedAccuracy | None) -> dict[str, Any] | None:
    """Return the expected accuracy as an object for JSON."""
    if expected is None:
        return None
    by_class = {label: each._asdict() for label, each in expected.per_class.items()}
    return {**expected._asdict(), "per_class": by_class}


def expected_text(expected: ExpectedAccuracy, learner: Learner) -> str:
    """Return the expected accuracy and its interval in words, and whether it may be too high."""
    interval = f"{expected.low:.1%} to {expected.high:.1%}"
    text = f"{expected.accuracy:.1%} expected on new rows (95% interval: {interval})"
    width, choice = learner.width or 0, learner.choice
    if (choice.whiten or choice.lda_prior) and len(learner) < FEW * width:
        text += (
            f"; probably too high, because {plural(len(learner), 'example')} are few for "
            f"{width:,} features: test it with rows that were not learned (`minout score`)"
        )
    return text


def misfits_text(misfits: int, examples: int, expected: ExpectedAccuracy | None) -> str:
    """Return what misfits mean: what share is usual, and what to do."""
    usual = ""
    if expected is not None:
        usual = f", {1.0 - expected.accuracy:.1%} here"
    return (
        f"Misfits: {misfits / examples:.1%} of the examples are on the wrong side of a separator. "
        f"Usual is about the share of rows that are predicted wrongly{usual}, or less: next to "
        "none where labels are distinct, more where they overlap. `minout suspects` says which "
        "labels may be wrong, `minout list --misfits` which examples are misfits."
    )


def number_text(errors: LabelErrors) -> str:
    """Return the estimated number of wrong labels and its interval in words."""
    return f"about {errors.wrong:,.0f} (95% interval: {errors.low:,} to {errors.high:,})"


def errors_text(errors: LabelErrors) -> str:
    """Return how many labels are wrong, in all and where most of them are, in a sentence."""
    most = sorted(errors.per_class.items(), key=lambda each: -each[1].wrong)[:3]
    named = [f"{label}: {each.wrong:,.0f}" for label, each in most if each.wrong >= 0.5]
    where = f"; by label, most in {', '.join(named)}" if named else ""
    return (
        f"Of {plural(errors.examples, 'label')} {number_text(errors)} are wrong{where}. "
        f"Likely wrong: {errors.likely:,}."
    )


def errors_for_json(errors: LabelErrors | None) -> dict[str, Any] | None:
    """Return the estimated number of wrong labels as an object for JSON."""
    if errors is None:
        return None
    by_class = {label: each._asdict() for label, each in errors.per_class.items()}
    return {**errors._asdict(), "per_class": by_class}


@contextmanager
def open_query(model: Path, options: FileOptions) -> Iterator[tuple[Learner, Reader]]:
    """Open a model and a file; the message about a bad row says how to continue after it."""
    try:
        with (
            open_model(model, read_only=True, features=options.features) as learner,
            open_reader(require_features(learner), options) as reader,
        ):
            yield learner, reader
    except BadRowError as error:
        if error.following is None:
            raise
        raise InvalidInputError(
            f"{error} To continue after it, add --from-line {error.following}."
        ) from None


def answer_batches(
    reader: Reader, ask: Callable[[list[Example]], T], skipped: SkippedRows | None = None
) -> Iterator[tuple[list[Example], T]]:
    """Yield each batch of examples together with the answer to a query on it.

    The message about a bad row names its line in the file; the rows before it are answered first.
    On standard input, or with --skip-bad, a bad row is skipped if `skipped` is passed.
    """
    for batch in _batches(reader, 1 if reader.is_live else BATCH):
        try:
            answer = ask(batch)
        except InvalidInputError:
            yield from _one_by_one(batch, reader, ask, skipped)
            continue
        yield batch, answer
        if skipped is not None:
            skipped.end_run()
    if skipped is not None:
        skipped.end_run()


def _one_by_one(
    batch: list[Example],
    reader: Reader,
    ask: Callable[[list[Example]], T],
    skipped: SkippedRows | None,
) -> Iterator[tuple[list[Example], T]]:
    for example in batch:
        try:
            answer = ask([example])
        except InvalidInputError as error:
            refusal = bad_row(reader, example, error)
            if skipped is None or not skipped.skips(is_live=reader.is_live):
                raise refusal from None
            skipped(refusal)
        else:
            yield [example], answer
            if skipped is not None:
                skipped.end_run()


def _batches(reader: Reader, size: int) -> Iterator[list[Example]]:
    batch: list[Example] = []
    refusal: BadRowError | None = None
    rows = iter(reader)
    while refusal is None:
        try:
            example = next(rows, None)
        except BadRowError as error:
            refusal, example = error, None
        if example is not None:
            batch.append(example)
        if batch and (example is None or len(batch) == size):
            yield batch
            batch = []
        if example is None:
            break
    if refusal is not None:
        raise refusal
