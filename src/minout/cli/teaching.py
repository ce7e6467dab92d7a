"""A file on its way into a model: taught row by row, told of, saved, and kept if it stops."""

import time
from pathlib import Path
from typing import Any

from minout.cli.bar import Bar
from minout.cli.remembered import Spelling
from minout.cli.stop import Stop
from minout.errors import InvalidInputError, MinoutError, MissingDataError
from minout.learner import Learner
from minout.streams.files import BadRowError, Example, Reader

SAVE_EVERY = 60.0
"""How many seconds pass between two savings on the way, in case the machine stops."""
AT_MOST = 0.05
"""The share of the time that such savings may take."""


class Teaching:
    """Teaches examples and counts what that did."""

    def __init__(self, learner: Learner, file: Path) -> None:
        self._learner, self._file = learner, file
        self._started = self._saved = time.monotonic()
        self._saving = 0.0
        self._spelling = Spelling(learner)
        self.seconds = 0.0
        self.taught = self.known = self.corrected = self.moved = self.last = 0
        self.misfits = len(learner.misfits) if len(learner) else 0
        self.is_consolidated = False

    def teach(self, reader: Reader, stop: Stop) -> MinoutError | None:
        """Teaches what the reader gives, until it ends, a row is refused, or somebody stops it.

        Gives back the refusal: what came before it is to be kept.
        """
        try:
            with Bar("learning") as bar:
                for example in stop.each(iter(reader)):
                    self._teach(example, reader.source)
                    bar.tell(reader.share, self._words)
                    self._save_now_and_then()
        except BadRowError as error:
            return InvalidInputError(f"{error}{self._way_on(error)}")
        except MinoutError as error:
            return error
        except OSError as error:
            return MissingDataError(f"{reader.source} could not be read on: {error}.")
        finally:
            self.seconds = time.monotonic() - self._started
        return None

    def consolidate(self, stop: Stop) -> MinoutError | None:
        """Makes the model anew from the examples alone, unless somebody stops that."""
        if not len(self._learner):
            return None
        try:
            with Bar("consolidating"), stop.interruptible():
                self._learner.consolidate()
            self.is_consolidated = True
        except KeyboardInterrupt:
            return None
        except MinoutError as error:
            return InvalidInputError(f"Everything taught is kept, but not consolidated: {error}")
        return None

    def save(self) -> None:
        """Writes the model, if there is anything to write."""
        if self.taught or self.is_consolidated:
            self._learner.save(self._file)

    def facts(self) -> dict[str, Any]:
        """Gives everything that was counted."""
        return {
            "taught": self.taught,
            "known": self.known,
            "corrected": self.corrected,
            "moved": self.moved,
            "misfits": len(self._learner.misfits) if len(self._learner) else 0,
            "examples": len(self._learner),
            "classes": len(self._learner.classes),
            "consolidated": self.is_consolidated,
            "seconds": self.seconds,
            "last": self.last,
        }

    def summary(self) -> str:
        """Says the same to a person."""
        facts = self.facts()
        holds = (
            f"{facts['examples']:,} examples of {facts['classes']:,} classes; "
            f"misfits: {facts['misfits']:,}"
        )
        known = f"{self.known:,} were known already" if self.known else ""
        if self.corrected:
            known += f", of which {self.corrected:,} were corrected since"
        if not self.taught:
            return f"Nothing new{known and f': {known}'}. The model is as it was: {holds}."
        return (
            f"Taught {self.taught:,} examples{known and f' ({known})'}, "
            f"{self._speed(self.taught):,.0f} per second; separators moved {self.moved:,} times. "
            f"The model holds {holds}; {'' if self.is_consolidated else 'not '}consolidated."
        )

    def _teach(self, example: Example, source: str) -> None:
        learner = self._learner
        try:
            if example.label is None:
                raise InvalidInputError("it has no label; put it in the folder of a class.")
            known = self._spelling.of(example.id, example.label)
            report = learner.teach(example.row, known.label, id=known.id)
        except InvalidInputError as error:
            raise BadRowError(source, example.where, str(error), example.number + 1) from None
        certificate = report.certificate
        self.last = example.number
        self.known += known.is_known
        self.corrected += report.label != known.label
        self.taught += not known.is_known
        self.moved += len(certificate.moved)
        self.misfits += len(certificate.misfits) - len(certificate.cleared)

    def _save_now_and_then(self) -> None:
        now = time.monotonic()
        if now - self._saved < max(SAVE_EVERY, self._saving / AT_MOST):
            return
        self._learner.save(self._file)
        self._saved = time.monotonic()
        self._saving = self._saved - now

    def _speed(self, examples: int) -> float:
        seconds = self.seconds or time.monotonic() - self._started
        return examples / seconds if seconds else 0.0

    def _words(self) -> str:
        read = self.taught + self.known
        return (
            f"{read:,} examples, {self._speed(read):,.0f} per second, "
            f"moved {self.moved:,}, misfits {self.misfits:,}"
        )

    def _way_on(self, error: BadRowError) -> str:
        if not self.last:
            return ""  # where the first row is bad, the others will be too
        kept = " What came before it is kept."
        if error.following is None:
            return kept
        return f"{kept} To go on after it, add --from-line {error.following}."
