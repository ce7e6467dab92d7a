"""Teach a model the rows of a file one by one, with progress; save it if that stops."""

import time
from pathlib import Path
from typing import Any

from minout.cli.file_notes import RowConverter
from minout.cli.output import plural
from minout.cli.progress import ProgressBar
from minout.cli.stop import Stop
from minout.errors import InvalidInputError, MinoutError, MissingDataError, system_reason
from minout.learner import Learner
from minout.streams.files import BadRowError, Example, Reader

SAVE_EVERY = 60.0
"""Seconds between two intermediate saves, in case of a power cut."""
SAVE_SHARE = 0.05
"""The largest share of the time that such saves may take."""


class Teaching:
    """A run over one file: teaches its examples and counts the results."""

    def __init__(self, learner: Learner, file: Path) -> None:
        self._learner, self._file = learner, file
        self._started = self._saved = time.monotonic()
        self._save_seconds = 0.0
        self._converter = RowConverter(learner)
        self.seconds = 0.0
        self.taught = self.known = self.corrected = self.moved = self.last = 0
        self.misfits = len(learner.misfits)
        self._has_consolidated = False

    def teach(self, reader: Reader, stop: Stop) -> MinoutError | None:
        """Teach the rows of a file until it ends, a row is refused, or a signal comes.

        Return the refusal, if any; what was taught before it stays.
        """
        try:
            with ProgressBar("learning") as bar:
                for example in stop.each(iter(reader)):
                    self._teach_row(example, reader.source)
                    bar.update(reader.fraction_read, self._progress_text)
                    self._save_if_due()
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
        return None

    def consolidate(self, stop: Stop) -> MinoutError | None:
        """Consolidate the model, unless a signal comes."""
        if not len(self._learner):
            return None
        try:
            with ProgressBar("consolidating"), stop.interruptible():
                self._learner.consolidate()
            self._has_consolidated = True
        except KeyboardInterrupt:
            return None
        except MinoutError as error:
            return InvalidInputError(f"Everything taught is kept, but not consolidated: {error}")
        return None

    def save(self) -> None:
        """Save the model if it changed."""
        if self.taught or self._has_consolidated:
            self._learner.save(self._file)

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
        if self.corrected:
            known += f", of which {self.corrected:,} {_were(self.corrected)} corrected since"
        if not self.taught and self._has_consolidated:
            return f"Nothing new{known and f': {known}'}. The model is now consolidated: {holds}."
        if not self.taught:
            return f"Nothing new{known and f': {known}'}. The model is as it was: {holds}."
        return (
            f"Taught {plural(self.taught, 'example')}{known and f' ({known})'}, "
            f"{self._speed(self.taught):,.0f} per second; "
            f"separators moved {plural(self.moved, 'time')}. "
            f"The model holds {holds}; {'' if facts['consolidated'] else 'not '}consolidated."
        )

    def _teach_row(self, example: Example, source: str) -> None:
        learner = self._learner
        try:
            if example.label is None:
                raise InvalidInputError("it has no label; put it in the folder of a class.")
            row = self._converter.convert(example.id, example.label)
            report = learner.teach(example.row, row.label, id=row.id)
        except InvalidInputError as error:
            raise BadRowError(source, example.where, str(error), example.number + 1) from None
        certificate = report.certificate
        self.last = example.number
        self.known += row.is_stored
        self.corrected += report.label != row.label
        self.taught += not row.is_stored
        self.moved += len(certificate.moved)
        self.misfits += len(certificate.misfits) - len(certificate.cleared)

    def _save_if_due(self) -> None:
        now = time.monotonic()
        if now - self._saved < max(SAVE_EVERY, self._save_seconds / SAVE_SHARE):
            return
        self._learner.save(self._file)
        self._saved = time.monotonic()
        self._save_seconds = self._saved - now

    def _speed(self, examples: int) -> float:
        seconds = self.seconds or time.monotonic() - self._started
        return examples / seconds if seconds else 0.0

    def _progress_text(self) -> str:
        read = self.taught + self.known
        return (
            f"{plural(read, 'example')}, {self._speed(read):,.0f} per second, "
            f"moved {self.moved:,}, misfits {self.misfits:,}"
        )

    def _how_to_go_on(self, error: BadRowError) -> str:
        if not self.last:
            return ""  # if the first row is bad, the others will be too
        kept = " The rows before it are kept."
        if error.following is None:
            return kept
        return f"{kept} To continue after it, add --from-line {error.following}."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
