"""`minout learn`: teach a model the rows of a file, batch by batch, and count what came of it."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from minout._typing import Id, Label
from minout.cli import options
from minout.cli.inspection import for_people
from minout.cli.models import feature_map, load_drift, open_model, require_features, store_drift
from minout.cli.output import Row, cell, command, print_note, progress_bar, show
from minout.cli.rows import (
    BadRows,
    FileOptions,
    at_row,
    bad_row,
    check_columns,
    labels_of,
    open_file,
    pieces,
)
from minout.cli.stop import Stop
from minout.core import NOTHING_MOVED, StepReport
from minout.core.settings import Keep
from minout.drift import Drift
from minout.errors import InvalidInputError, MinoutError, plural, some
from minout.features import Scattering
from minout.files import BadRowError, Batch, Reader
from minout.inputs import KINDS
from minout.learner import Learner
from minout.store import holds_model

NOTHING = "Nothing has been taught; --skip-bad FILE skips such rows."
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help=f"Set the kind of a column: {', '.join(KINDS)}; may be repeated.",
    ),
]
KeepText = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="WINDOW",
        help="Which examples stay stored: all, a number N (the newest N), per-label:N (the newest "
        "N of each label), or a time such as 30d or 12h; the model remembers it.",
    ),
]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Give stored examples the values of the file, by id, but not the labels; columns that "
        "are not in the file keep theirs.",
    ),
]


@command
def learn(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    column_kinds: ColumnKinds = None,
    features: options.Features = None,
    keep: KeepText = None,
    encoding: options.Encoding = "utf-8",
    decimal: options.Decimal = None,
    skip_bad: options.SkipBad = None,
    replace: Replace = False,
    as_json: options.Json = False,
) -> None:
    """Teach a model the rows of a file; create it if there is none.

    The columns of a table may be numbers, booleans, dates, categories and text, with missing
    values. Their kinds are inferred from the first rows, up to 10,000, and printed. Later rows may
    have new categories and columns. {"car": {"age": 3}} in JSON is the column car.age.

    Rows that are stored already, by their id or else by their content, change nothing. An id that
    is stored with other values is an error without --replace. A bad row ends the command; rows
    before it are kept. On standard input rows are taught as they come; a bad line is reported and
    skipped.

    At the end the model is consolidated. What was taught is kept after Ctrl-C, too, and other
    commands see it at once. A note says if fewer rows than before are predicted correctly.

    Example: minout learn wines.minout wine.csv --label kind --id bottle
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    kinds, window = _parse_kinds(column_kinds or []), _parse_keep(keep)
    is_new, stop = not holds_model(model), Stop()
    # If the first line of a stream is bad, the others probably are as well.
    bad = BadRows(skip_bad, data == "-" and not is_new)
    with ExitStack() as opened:
        learner = Learner() if is_new else open_model(model, features, on_wait=stop.on_wait(model))
        opened.callback(learner.close)
        reader = opened.enter_context(open_file(require_features(learner), file, bad))
        reader.is_first_whole = is_new  # kinds of columns are inferred from it
        batches = iter(reader)
        first = next(batches, None)
        if first is not None:
            check_columns(learner, reader, file, "label", "id", may_lack=replace)
        if is_new:
            first, is_new = _create(model, reader, first, file, kinds, bad)
            learner = opened.enter_context(open_model(model, features, on_wait=stop.on_wait(model)))
        run = Run(learner, reader, bad, replace)
        run.set_up(file, {} if is_new else kinds, window)
        run.compare(first)
        with stop:
            refusal = run.teach(chain(filter(None, [first]), batches), stop)
            refusal = refusal or run.consolidate(stop)
    if as_json or refusal is None or run.last:
        facts = run.facts()
        show(facts if as_json else for_people(facts), as_json=as_json)
    if refusal is not None:
        raise refusal
    if stop.signal:
        print_note("Stopped; all of this is kept. Run the command again to continue.")
        raise typer.Exit(stop.exit_code)


def _create(
    model: Path,
    reader: Reader,
    first: Batch | None,
    file: FileOptions,
    kinds: dict[str, str],
    bad: BadRows,
) -> tuple[Batch, bool]:
    """Create a model for the rows of a file, unless another process has done so meanwhile.

    Return those of the first ones that can be used, and whether it was created.
    """
    if first is None:
        raise InvalidInputError(f"{reader.source} is empty, so there is nothing to learn.")
    if file.label is None and isinstance(first.X[0], dict):  # of a file, it is known before
        raise InvalidInputError(
            f"Name the label column of {reader.source} with --label; it has {some(first.X[0])}."
        )
    features, size = feature_map(file.features)
    if isinstance(features, Scattering):
        features = Scattering(image_shape=reader.image_shape)
    if size is not None and (reader.image_shape or ())[:2] != size:
        raise InvalidInputError(
            f"--features {file.features} has a size, which is for images; leave it out for "
            f"{reader.source}."
        )
    learner = Learner(features=features or "identity", column_kinds=kinds)
    learner.set_source(
        label=file.label,
        id=file.id,
        decimal=file.decimal,
        image_shape=reader.image_shape,
        size=size,
    )
    first = _good_rows(learner, reader, first, bad)
    _say_columns(learner)
    try:
        learner.store_in(model)
    except InvalidInputError:  # it exists
        return first, False
    learner.close()
    return first, True


def _good_rows(learner: Learner, reader: Reader, first: Batch, bad: BadRows) -> Batch:
    """Infer the columns of a new model; a bad row is skipped, or nothing is taught."""
    while True:
        try:
            if isinstance(first.error, BadRowError):
                raise first.error
            labels_of(learner, first)
            learner.infer(first.X)
            return first
        except BadRowError as error:
            raise InvalidInputError(f"{error} {NOTHING}") from None
        except InvalidInputError as error:
            if error.row is None or not bad.skips:
                shown = error if error.row is None else bad_row(reader, first, error.row, error)
                raise InvalidInputError(f"{shown} {NOTHING}") from None
            bad(bad_row(reader, first, error.row, error))
            others = [n for n in range(len(first.lines)) if n != error.row]
            first = first.at(others)._replace(error=first.error)


def _say_columns(learner: Learner) -> None:
    """Say of which kinds the columns of a new model are, and why."""
    described, source = learner.schema.described(), learner.schema.source
    if not described:
        return
    plain = [name for name, what in described.items() if _is_plain(what)]
    shown = plain if len(plain) <= 8 else [*plain[:3], "…", plain[-1]]
    roles = f"label: {source.label}; id: {source.id or 'none, so examples are numbered'}."
    print_note(f"Columns of numbers ({len(plain):,}): {', '.join(shown) or 'none'}; {roles}")
    for name, what in described.items():
        if name not in plain:
            print_note(f"{name}: {what}.")


def _is_plain(what: str) -> bool:
    # Whether a column has numbers only, and nothing is to be said of it.
    return re.fullmatch(r"number( \((.* a number|you said so)\))?", what) is not None


def _parse_kinds(texts: Sequence[str]) -> dict[str, str]:
    """Return the kinds of columns that --as sets.

    >>> _parse_kinds(["zip=category", "a=b=text"])
    {'zip': 'category', 'a=b': 'text'}
    """
    kinds: dict[str, str] = {}
    for text in texts:
        name, _, kind = text.rpartition("=")
        if not name or kind not in KINDS or kinds.setdefault(name, kind) != kind:
            raise InvalidInputError(
                f"--as must be COLUMN=KIND, once for a column, with one of the kinds "
                f"{', '.join(KINDS)}, not {text!r}."
            )
    return kinds


def _parse_keep(text: str | None) -> Keep | None:
    """Return the window that --keep sets."""
    if text is None:
        return None
    per_label = re.fullmatch(r"per[-_]label:(\d{1,18})", text, re.ASCII)
    keep: Keep = int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else text
    if per_label:
        keep = {"per_label": int(per_label[1])}
    try:
        Learner(keep=keep)
    except InvalidInputError:
        raise InvalidInputError(
            "--keep must be all, a whole number from 1, per-label:N or a time such as 30d or 12h, "
            f"not {text!r}."
        ) from None
    return keep


class Run:
    """A run over one file: teaches its rows and counts what came of it.

    Other processes may change the model between two pieces. So each piece is taught inside
    `Learner.turn`, which holds the write lock and begins with what they committed.
    """

    def __init__(self, learner: Learner, reader: Reader, bad: BadRows, replace: bool) -> None:
        self._learner, self._reader, self._bad, self._replace = learner, reader, bad, replace
        self._started = time.monotonic()
        self._counts = dict.fromkeys(("taught", "known", "replaced", "moved", "forgotten"), 0)
        self.last = 0
        self._drifts: list[Drift] = []
        self._left: set[Id] = set()
        self._said = learner.schema.described()

    def set_up(self, file: FileOptions, kinds: dict[str, str], window: Keep | None) -> None:
        """Tell the model what the options say of columns and of the window."""
        learner, known = self._learner, self._learner.schema.source
        if len(learner) and file.label is not None and file.label != (known.label or file.label):
            raise InvalidInputError(
                f"The labels of this model are in the column {known.label!r}, not {file.label!r}; "
                "teach a new model to learn others."
            )
        with learner.turn():
            learner.set_source(label=file.label, id=file.id)
            if kinds:
                learner.set_column_kinds(kinds)
            if window is not None and window != learner.settings.keep:
                count = len(learner.set_keep(window).forgotten)
                self._counts["forgotten"] += count
                forgotten = f"{plural(count, 'example')} forgotten"
                print_note(f"The window is now {cell(window)}; {forgotten}.")

    def compare(self, first: Batch | None) -> None:
        """Let rows without ids be compared with those stored, if these can be told apart."""
        learner, encoder = self._learner, self._learner.schema.encoder
        if self._reader.is_live or not len(learner) or first is None or any(first.ids):
            return
        lossy = [] if encoder is None else encoder.lossy_columns
        if lossy or learner.memory is not None:
            why = f"columns are left out or hashed ({some(lossy)})" if lossy else "they are codes"
            print_note(
                f"Rows are not compared with those stored, because {why}: rows that were learned "
                "before are learned again. A column of ids (--id) avoids that."
            )
            return
        self._left = set(learner.ids)

    def teach(self, batches: Iterator[Batch], stop: Stop) -> MinoutError | None:
        """Teach rows until they end, one is refused, or a signal comes; return the refusal."""
        learner, reader = self._learner, self._reader
        try:
            with progress_bar("learning") as update:
                for batch in stop.each(batches):
                    for piece, _ in pieces(learner, reader, batch, self._teach, self._bad):
                        self.last = piece.lines[-1]
                        self._bad.skips |= reader.is_live
                        update(reader.fraction_read, self._progress())
                        if stop.signal:
                            break
                    if batch.error is not None and not stop.signal:
                        raise batch.error
            if not stop.signal:
                self._bad.finish(reader.source, self._used)
        except BadRowError as error:
            kept = " The rows before it are kept." if self.last else ""
            return InvalidInputError(f"{error}{kept}")
        except KeyboardInterrupt:  # while it waited for another process
            if not stop.signal:
                raise
        except MinoutError as error:
            return error
        return None

    @property
    def _used(self) -> int:
        return sum(self._counts[name] for name in ("taught", "known", "replaced"))

    def _progress(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-9)
        return f"{plural(self._used, 'example')}, {self._used / seconds:,.0f}/s"

    def _teach(self, piece: Batch) -> None:
        """Teach some rows in one call; those that are stored already change nothing."""
        learner = self._learner
        with learner.turn():
            labels, ids = labels_of(learner, piece), self._ids(piece)
            replaced = dict(self._updates(piece, labels, ids)) if self._replace else {}
            equal = self._equal(piece, labels, ids)
            rest = [row for row in range(len(ids)) if row not in replaced and row not in equal]
            new = [row for row in rest if (id := ids[row]) is None or id not in learner]
            reports = dict(zip(rest, self._reports(piece, labels, ids, rest), strict=True))
            certificates = [each.certificate for each in (*replaced.values(), *reports.values())]
            changed = sum(each.certificate is not NOTHING_MOVED for each in replaced.values())
            self._counts["taught"] += len(new)
            self._counts["replaced"] += changed
            self._counts["known"] += len(ids) - changed - len(new)
            self._counts["moved"] += sum(len(each.moved) for each in certificates)
            self._counts["forgotten"] += sum(len(each.forgotten) for each in certificates)
            self._left.difference_update(equal.values())
            if new:
                self._watch({piece.lines[row]: reports[row] for row in new})
        for name, what in learner.schema.described().items():
            if name not in self._said:
                print_note(f"New column {name}: {what}.")
            elif _is_plain(self._said[name]) and not _is_plain(what):
                print_note(f"Column {name}: {what}.")
        self._said = learner.schema.described()

    def _ids(self, piece: Batch) -> list[Id | None]:
        """Return the ids of rows as the model knows them; raise an error for a row without."""
        has_column = isinstance(piece.X[0], dict) and self._learner.schema.source.id is not None
        if not has_column and not any(piece.ids):
            return [None] * len(piece.ids)
        ids: list[Id | None] = []
        for row, text in enumerate(piece.ids):
            if text is None:
                raise InvalidInputError("it has no id; fill it in, or take the row out.", row=row)
            found = self._learner.find_id(text)
            ids.append(text if found is None else found)
        return ids

    def _updates(
        self, piece: Batch, labels: list[Label], ids: list[Id | None]
    ) -> Iterator[tuple[int, StepReport]]:
        """Give stored examples the values of the file; labels do not change."""
        learner, corrected = self._learner, self._learner.corrected
        for row, id in enumerate(ids):
            if id is None or id not in learner:
                continue
            if labels[row] not in (learner.example(id)[1], *corrected.get(id, ())):
                message = f"Example {id!r} is stored with another label; use `minout correct`."
                raise InvalidInputError(message, row=row)
            with at_row(row):
                yield row, learner.update(id, piece.X[row])

    def _equal(self, piece: Batch, labels: list[Label], ids: list[Id | None]) -> dict[int, Id]:
        """Return the rows without ids that equal stored ones; each stored one is for one row."""
        learner, found = self._learner, dict[int, Id]()
        if self._left and ids[0] is None:
            corrected = learner.corrected
            for row, (x, label) in enumerate(zip(piece.X, labels, strict=True)):
                with at_row(row):
                    equal = learner.find(x)
                for each in equal:
                    known = (learner.example(each)[1], *corrected.get(each, ()))
                    if each in self._left and each not in found.values() and label in known:
                        found[row] = each
                        break
        return found

    def _reports(
        self, piece: Batch, labels: list[Label], ids: list[Id | None], rest: list[int]
    ) -> list[StepReport]:
        if not rest:
            return []
        named = [id for row in rest if (id := ids[row]) is not None]
        y = [labels[row] for row in rest]
        try:
            return self._learner.teach_many(piece.at(rest).X, y, named or None)
        except InvalidInputError as error:
            error.row = None if error.row is None else rest[error.row]
            raise

    def _watch(self, taught: dict[int, StepReport]) -> None:
        """Count how many lines were predicted correctly before; say if they have become fewer."""
        monitor, last = load_drift(self._learner)
        for line, report in taught.items():
            drift = monitor.update(report.label, report.was_right)
            if drift is not None:
                place = f"{self._reader.source}, {self._reader.unit} {line}"
                last = {**drift._asdict(), "time": time.time(), "where": place}
                self._drifts.append(drift)
                print_note(
                    f"{place}: of the last {plural(drift.rows, 'example')}, {drift.now:.1%} were "
                    f"predicted correctly before being taught; {drift.before:.1%} would be usual. "
                    f"The largest fall is that of {str(drift.label)!r}. If the data have changed, "
                    "keep fewer examples (--keep) or `minout forget` old ones."
                )
        store_drift(self._learner, monitor, last)

    def consolidate(self, stop: Stop) -> MinoutError | None:
        """Consolidate the model, unless a signal comes."""
        learner = self._learner
        if stop.signal or not len(learner) or learner.is_consolidated:
            return None
        try:
            with progress_bar("consolidating"), stop.interruptible():
                learner.consolidate()
        except KeyboardInterrupt:
            return None
        except MinoutError as error:
            return InvalidInputError(f"Everything taught is kept, but not consolidated: {error}")
        return None

    def facts(self) -> Row:
        """Return what was counted."""
        learner = self._learner
        return {
            **self._counts,
            "skipped": self._bad.count,
            "misfits": len(learner.misfits),
            "pending": len(learner.pending),
            "examples": len(learner),
            "classes": len(learner.classes),
            "consolidated": learner.is_consolidated,
            "right_before_taught": load_drift(learner)[0].share,
            "drifts": self._drifts,
            "seconds": time.monotonic() - self._started,
            "last": self.last,
            "expected_accuracy": learner.expected_accuracy() if len(learner.classes) > 1 else None,
        }
