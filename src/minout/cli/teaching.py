"""Teach a model the rows of a file one by one; other processes may change it meanwhile."""

import time
from collections import Counter
from typing import Any

from minout.cli.drift_note import NOTES as DRIFT
from minout.cli.drift_note import DriftNote, LastDrift
from minout.cli.file_notes import NO_LABEL, ConvertedRow, RowConverter, notes_with, read_notes
from minout.cli.file_notes import NOTES as FILES
from minout.cli.known_rows import KnownRows
from minout.cli.output import keep_text, plural, print_note
from minout.cli.progress import ProgressBar
from minout.cli.skipped import SkippedRows
from minout.cli.stop import Stop
from minout.cli.table_rows import TableTeaching, bad_row
from minout.drift import Drift, DriftMonitor
from minout.engine import StepReport
from minout.engine.settings import Keep
from minout.engine.window import window
from minout.errors import InvalidInputError, MinoutError, MissingDataError, system_reason
from minout.learner import Learner
from minout.streams.files import BadRowError, Example, Label, Reader


class Teaching:
    """A run over one file: teaches its examples and counts the results.

    Other processes may change the model between two examples. So each example is taught inside
    `Learner.turn`, which holds the write lock and begins with what they committed, also to `notes`.

    Parameters
    ----------
    learner : Learner
        The model.
    skipped : SkippedRows, optional
        Counts, reports or writes bad rows; by default they end the run.
    keep : int, str or dict, optional
        Another window for the model.
    table : TableTeaching, optional
        Encodes the rows, if they are records.
    known : KnownRows, optional
        Recognises rows without ids that were stored before.
    resize : tuple of int, optional
        The height and width to which images are resized.
    """

    def __init__(
        self,
        learner: Learner,
        skipped: SkippedRows | None = None,
        keep: Keep | None = None,
        table: TableTeaching | None = None,
        known: KnownRows | None = None,
        resize: tuple[int, int] | None = None,
    ) -> None:
        self._resize = resize
        self._learner, self._skipped = learner, skipped or SkippedRows()
        self._table, self._known_rows = table, known
        self._skipped.has_examples = len(learner) > 0
        self._started = time.monotonic()
        self._take_over()
        self.seconds = 0.0
        self.taught = self.known = self.corrected = self.moved = self.last = self.forgotten = 0
        self.drifts: list[Drift] = []
        self.known_by_content = 0
        self.not_counted = 0  # their label was new, so it could not have been predicted
        self._has_consolidated = self._has_noted = False
        self._keep = keep

    def _take_over(self) -> None:
        # Compute anew what depends on the state: another process may have changed it.
        learner = self._learner
        self._note = DriftNote.of(learner)
        self._converter = RowConverter(learner)
        self.misfits = len(learner.misfits)
        if self._table is not None:
            self._table.take_over(learner)

    @property
    def _monitor(self) -> DriftMonitor:
        return self._note.monitor

    def _widen(self) -> Keep | None:
        # Set a window that forgets no stored example before the first row, which would be taught
        # under the old one otherwise. Return the old one, for the case that the row is refused.
        learner, keep = self._learner, self._keep
        if keep is None or keep == learner.settings.keep or not _forgets_none(learner, keep):
            return None
        before = learner.settings.keep
        learner.set_keep(keep)
        return before

    def _set_keep(self, before: Keep | None = None) -> None:
        # Give an existing model another window, once: when a row of the file has been taught.
        # `before` is the old window if the new one is already set.
        keep, self._keep = self._keep, None
        if keep is None or (before is None and keep == self._learner.settings.keep):
            return
        count = len(self._learner.set_keep(keep).forgotten) if before is None else 0
        self.forgotten += count
        self.misfits = len(self._learner.misfits)
        print_note(f"The window is now {keep_text(keep)}; {plural(count, 'example')} forgotten.")

    def teach(self, reader: Reader, stop: Stop) -> MinoutError | None:
        """Teach the rows of a file until it ends, a row is refused, or a signal comes.

        Return the refusal, if any; what was taught before it stays.
        """
        try:
            with ProgressBar("learning") as bar:
                self._skipped.console = bar.console
                for example in stop.each(iter(reader)):
                    drift = self._teach_or_skip(example, reader)
                    if drift is not None:
                        place = f"{reader.source}, {example.where}"
                        print_note(_drift_sentence(drift, place, self._learner), bar.console)
                    bar.update(reader.fraction_read, self._progress_text)
                self._skipped.end_run()
            self._set_keep()
        except KeyboardInterrupt:  # while it waited for another process
            if not stop.signal:
                raise
        except BadRowError as error:
            return InvalidInputError(f"{error}{self._how_to_go_on(error)}")
        except MinoutError as error:
            return error
        except OSError as error:
            return MissingDataError(
                f"{reader.source} could not be read further: {system_reason(error)}."
            )
        finally:
            self.seconds = time.monotonic() - self._started
            self._skipped.console = None
        return None

    def nothing_used(self, reader: Reader) -> MinoutError | None:
        """Return the error for a file of which every row was skipped."""
        skipped = self._skipped
        if skipped.file is None or not skipped.count or self.taught or self.known:
            return None
        return InvalidInputError(
            f"None of the {plural(skipped.count, 'row')} of {reader.source} could be used; "
            f"{skipped.file} has the reasons. The first is: {skipped.first}"
        )

    def consolidate(self, stop: Stop) -> MinoutError | None:
        """Consolidate the model, unless a signal comes."""
        if not len(self._learner):
            return None
        try:
            self._learner.flush()  # what was taught does not wait for the consolidation
            with ProgressBar("consolidating"), stop.interruptible():
                self._learner.consolidate()
            self._has_consolidated = True
        except KeyboardInterrupt:
            return None
        except MinoutError as error:
            return InvalidInputError(f"Everything taught is kept, but not consolidated: {error}")
        return None

    def facts(self) -> dict[str, Any]:
        """Return what was counted, for JSON."""
        return {
            "taught": self.taught,
            "known": self.known,
            "corrected": self.corrected,
            "moved": self.moved,
            "misfits": len(self._learner.misfits),
            "pending": len(self._learner.pending),
            "examples": len(self._learner),
            "classes": len(self._learner.classes),
            "consolidated": self._learner.is_consolidated,
            "forgotten": self.forgotten,
            "skipped": self._skipped.count,
            "right_before_taught": self._monitor.share,
            "not_counted": self.not_counted,
            "drifts": [each._asdict() for each in self.drifts],
            "seconds": self.seconds,
            "last": self.last,
        }

    def summary(self) -> str:
        """Return what was counted, as sentences."""
        facts = self.facts()
        holds = (
            f"{plural(facts['examples'], 'example')} of {plural(facts['classes'], 'class')}; "
            f"misfits: {facts['misfits']:,}"
        )
        if facts["pending"]:
            holds += f"; pending: {facts['pending']:,}"
        known = f"{self.known:,} {_were(self.known)} known already" if self.known else ""
        if self.known_by_content:
            known += " by their content (--allow-duplicates teaches them again)"
        if self.corrected:
            known += f", of which {self.corrected:,} {_were(self.corrected)} corrected since"
        if not self.taught:
            is_now = "now consolidated" if self._has_consolidated else "as it was"
            return (
                f"Nothing new{known and f': {known}'}. The model is {is_now}: {holds}."
                f"{self._skipped_text()}"
            )
        return (
            f"Taught {plural(self.taught, 'example')}{known and f' ({known})'}, "
            f"{self._speed(self.taught):,.0f} per second; "
            f"separators moved {plural(self.moved, 'time')}. "
            f"The model holds {holds}; {'' if facts['consolidated'] else 'not '}consolidated."
            f"{self._window_text()}{self._share_text()}{self._skipped_text()}"
        )

    def _skipped_text(self) -> str:
        text = self._skipped.text()
        return text and f" {text}"

    def _window_text(self) -> str:
        if not self.forgotten:
            return ""
        return f" {plural(self.forgotten, 'example')} fell out of the window."

    def _share_text(self) -> str:
        share, recent = self._monitor.share, self._monitor.recent
        if share is None:
            return ""
        return (
            f" Of the last {plural(recent, 'example')}, {share:.1%} {_were(recent)} predicted "
            f"correctly before being taught{self._not_counted_text()}."
        )

    def _not_counted_text(self) -> str:
        count = self.not_counted
        if not count:
            return ""
        is_are = "is" if count == 1 else "are"
        return f" ({plural(count, 'example')} whose label was new {is_are} not counted)"

    def _teach_or_skip(self, example: Example, reader: Reader) -> Drift | None:
        try:
            with self._learner.turn() as has_changed:
                if has_changed:
                    self._take_over()
                    _require_columns(self._learner, reader)
                before = self._widen()
                try:
                    drift = self._teach_row(example, reader)
                except BadRowError:
                    if before is not None:
                        self._learner.set_keep(before)
                    raise
                self._set_keep(before)
        except BadRowError as error:
            if not self._skipped.skips(is_live=reader.is_live):
                raise
            self._skipped(error)
            return None
        self._skipped.has_examples = True
        self._skipped.end_run()
        return drift

    def _teach_row(self, example: Example, reader: Reader) -> Drift | None:
        learner, files = self._learner, notes_with(self._learner, reader, self._resize)
        try:
            if example.label is None:
                raise InvalidInputError(NO_LABEL)
            row = self._converter.convert(example.id, example.label)
            report = self._report(example.row, row)
        except InvalidInputError as error:
            raise bad_row(reader, example, error) from None
        if report is None:
            self.last = example.number
            return None
        certificate = report.certificate
        self.last = example.number
        self.known += row.is_stored
        self.corrected += report.label != row.label
        self.taught += not row.is_stored
        self.moved += len(certificate.moved)
        self.misfits += len(certificate.misfits) - len(certificate.cleared)
        self.forgotten += len(certificate.forgotten)
        if row.is_stored:
            return None
        # The notes are committed together with the example; by then the monitor has counted it.
        if not self._has_noted:
            learner.notes[FILES], self._has_noted = files, True
        learner.notes[DRIFT] = self._note
        return self._count(row.label, report.was_right, f"{reader.source}, {example.where}")

    def _report(self, x: Any, row: ConvertedRow) -> StepReport | None:
        # Teach a row; None if an equal one without an id was stored before.
        learner, table, widen = self._learner, self._table, 0
        mark = None if table is None else table.encoder.mark()
        try:
            if table is not None and row.is_stored and row.id is not None:
                x = table.encode_stored(learner, x, row.id)
            elif table is not None:
                x, widen = table.encode(learner, x)
            if self._known_rows is not None and row.id is None and not widen:
                known = self._known_rows.take(x, row.label)
                if known is not None:
                    self.known += 1
                    self.known_by_content += 1
                    self.corrected += known != row.label
                    return None
            report = learner.teach(x, row.label, id=row.id, widen=widen)
        except BaseException:
            if table is not None and mark is not None:
                table.encoder.roll_back(mark)
            raise
        if table is not None and mark is not None and not row.is_stored:
            table.note(learner, is_changed=table.encoder.has_changed_since(mark))
        return report

    def _count(self, label: Label, was_right: bool | None, place: str) -> Drift | None:
        drift = self._monitor.update(label, was_right)
        self.not_counted += was_right is None
        if drift is not None:
            self.drifts.append(drift)
            self._note.last = LastDrift(drift, time.time(), place)
        return drift

    def _speed(self, examples: int) -> float:
        seconds = self.seconds or time.monotonic() - self._started
        return examples / seconds if seconds else 0.0

    def _progress_text(self) -> str:
        read, share = self.taught + self.known, self._monitor.share
        right = "" if share is None else f"{share:.1%} right, "
        return (
            f"{plural(read, 'example')}, {right}{self._speed(read):,.0f}/s, "
            f"misfits {self.misfits:,}"
        )

    def _how_to_go_on(self, error: BadRowError) -> str:
        if not self.last:
            return ""  # if the first row is bad, the others will be too
        kept = " The rows before it are kept."
        if error.following is None:
            return kept
        return f"{kept} To continue after it, add --from-line {error.following}."


def _forgets_none(learner: Learner, keep: Keep) -> bool:
    """Return whether a window surely contains all stored examples."""
    if isinstance(keep, int):
        return keep >= len(learner)
    if isinstance(keep, dict):
        counts = Counter(learner.example(each)[1] for each in learner.ids)
        return keep["per_label"] >= max(counts.values(), default=0)
    new, old = window(keep), learner.settings.window
    if new is None or old is None or new.seconds is None or old.seconds is None:
        return new is None
    return new.seconds >= old.seconds


def _require_columns(learner: Learner, reader: Reader) -> None:
    """Refuse to go on if another process has taught the model other columns."""
    noted = read_notes(learner).columns
    if len(learner) and noted and reader.columns and noted != list(reader.columns):
        raise InvalidInputError(
            "Another process has taught this model other columns; run the command again."
        )


def _drift_sentence(drift: Drift, place: str, learner: Learner) -> str:
    fewer = "keep the newest examples only (--keep 1000)"
    if learner.settings.keep != "all":
        fewer = "keep fewer examples (--keep)"
    return (
        f"{place}: of the last {plural(drift.rows, 'example')}, {drift.now:.1%} were predicted "
        f"correctly before being taught; with the earlier share of each label it would be "
        f"{drift.before:.1%}. The largest fall is that of {str(drift.label)!r}. If the data have "
        f"changed, {fewer} or `minout forget` old ones; "
        "`minout suspects` lists examples that may have a wrong label."
    )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
