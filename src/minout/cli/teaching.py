"""Teach a model the rows of a file, batch by batch, and count what came of it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from minout._typing import Id, Label
from minout.cli.bad_rows import BadRows
from minout.cli.drift_note import DriftNote
from minout.cli.inspection import keep_text
from minout.cli.models import FileOptions, labels_of, pieces
from minout.cli.output import Row, plural, print_note, progress_bar, some
from minout.cli.stop import Stop
from minout.drift import Drift
from minout.engine import NOTHING_MOVED, StepReport
from minout.engine.settings import Keep
from minout.errors import InvalidInputError, MinoutError
from minout.files import BadRowError, Batch, Reader
from minout.learner import Learner


class Run:
    """A run over one file: teaches its rows and counts what came of it.

    Other processes may change the model between two pieces. So each piece is taught inside
    `Learner.turn`, which holds the write lock and begins with what they committed.
    """

    def __init__(self, learner: Learner, reader: Reader, bad: BadRows, replace: bool) -> None:
        self._learner, self._reader, self._bad, self._replace = learner, reader, bad, replace
        self._started = time.monotonic()
        self.taught = self.known = self.replaced = self.moved = self.forgotten = self.last = 0
        self.drifts: list[Drift] = []
        self._left: set[Id] = set()
        self._said = dict(learner.schema.described())

    def set_up(self, file: FileOptions, kinds: dict[str, str], window: Keep | None) -> None:
        """Tell the model what the options say of columns and of the window."""
        learner = self._learner
        with learner.turn():
            learner.set_source(label=file.label, id=file.id, decimal=file.decimal)
            if kinds:
                learner.set_column_kinds(kinds)
            if window is not None and window != learner.settings.keep:
                count = len(learner.set_keep(window).forgotten)
                self.forgotten += count
                forgotten = f"{plural(count, 'example')} forgotten"
                print_note(f"The window is now {keep_text(window)}; {forgotten}.")

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
                self._bad.finish(reader.source, self.taught + self.known + self.replaced)
        except BadRowError as error:
            kept = " The rows before it are kept." if self.last else ""
            return InvalidInputError(f"{error}{kept}")
        except KeyboardInterrupt:  # while it waited for another process
            if not stop.signal:
                raise
        except MinoutError as error:
            return error
        finally:
            learner.flush()
        return None

    def _teach(self, piece: Batch) -> None:
        """Teach some rows in one call; those that are stored already change nothing."""
        learner = self._learner
        with learner.turn():
            labels, ids = labels_of(learner, piece), self._ids(piece)
            replaced = dict(self._updates(piece, ids)) if self._replace else {}
            equal = self._equal(piece, labels, ids)
            rest = [row for row in range(len(ids)) if row not in replaced and row not in equal]
            stored = {row for row in rest if (id := ids[row]) is not None and id in learner}
            taught = dict(zip(rest, self._taught(piece, labels, ids, rest), strict=True))
            for report in (*replaced.values(), *taught.values()):
                self.moved += len(report.certificate.moved)
                self.forgotten += len(report.certificate.forgotten)
            self._left.difference_update(equal.values())
            same = sum(report.certificate is NOTHING_MOVED for report in replaced.values())
            self.replaced += len(replaced) - same
            self.known += len(stored) + len(equal) + same
            self.taught += len(rest) - len(stored)
            if len(rest) > len(stored):
                self._watch({row: taught[row] for row in rest if row not in stored}, piece)
        self._say_new_columns()

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

    def _updates(self, piece: Batch, ids: list[Id | None]) -> Iterator[tuple[int, StepReport]]:
        """Give stored examples the values of the file."""
        for row, id in enumerate(ids):
            if id is not None and id in self._learner:
                with at_row(row):
                    yield row, self._learner.update(id, piece.X[row])

    def _equal(self, piece: Batch, labels: list[Label], ids: list[Id | None]) -> dict[int, Id]:
        """Return the rows without ids that equal stored ones; each stored one stands for one.

        So a file that is learned twice changes nothing, and of a file that has grown only the new
        rows are taught; but rows that are equal within one file are all taught.
        """
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

    def _taught(
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

    def _watch(self, taught: dict[int, StepReport], piece: Batch) -> None:
        """Count how many rows were predicted correctly before; say if they have become fewer."""
        note = DriftNote.of(self._learner)
        for row, report in taught.items():
            place = f"{self._reader.source}, {self._reader.unit} {piece.lines[row]}"
            note, drift = note.updated(report.label, report.was_right, place)
            if drift is not None:
                self.drifts.append(drift)
                print_note(
                    f"{place}: of the last {plural(drift.rows, 'example')}, {drift.now:.1%} were "
                    f"predicted correctly before being taught; {drift.before:.1%} would be usual. "
                    f"The largest fall is that of {str(drift.label)!r}. If the data have changed, "
                    "keep fewer examples (--keep) or `minout forget` old ones."
                )
        note.store(self._learner)

    def _say_new_columns(self) -> None:
        described = self._learner.schema.described()
        for name, what in described.items():
            if self._said.get(name) is None:
                print_note(f"New column {name}: {what}.")
        self._said = dict(described)

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
            "taught": self.taught,
            "known": self.known,
            "replaced": self.replaced,
            "moved": self.moved,
            "forgotten": self.forgotten,
            "skipped": self._bad.count,
            "misfits": len(learner.misfits),
            "pending": len(learner.pending),
            "examples": len(learner),
            "classes": len(learner.classes),
            "consolidated": learner.is_consolidated,
            "right_before_taught": DriftNote.of(learner).monitor.share,
            "drifts": self.drifts,
            "seconds": time.monotonic() - self._started,
            "last": self.last,
        }

    def summary(self) -> str:
        """Return what was counted, in at most two short lines."""
        facts = self.facts()
        counted = [f"Taught {plural(self.taught, 'example')}"]
        for name in ("replaced", "forgotten", "skipped"):
            counted += [f"{facts[name]:,} {name}"] if facts[name] else []
        counted += [f"{self.known:,} known already"] if self.known else []
        state = "" if facts["consolidated"] else ", not consolidated"
        pending = f", pending: {facts['pending']:,}" if facts["pending"] else ""
        return (
            f"{', '.join(counted)}. The model holds {plural(facts['examples'], 'example')} of "
            f"{plural(facts['classes'], 'class')}; misfits: {facts['misfits']:,}{pending}{state}."
        )

    def _progress(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-9)
        read = self.taught + self.known + self.replaced
        return f"{plural(read, 'example')}, {read / seconds:,.0f}/s"


@contextmanager
def at_row(row: int) -> Iterator[None]:
    """Name the row of a batch that an error is about."""
    try:
        yield
    except InvalidInputError as error:
        error.row = row
        raise
