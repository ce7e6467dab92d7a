"""The drift monitor in a model's notes: the next run of `minout learn` continues it."""

from datetime import datetime
from typing import Any, NamedTuple, Self

from minout.drift import Drift, DriftMonitor
from minout.errors import InvalidInputError
from minout.learner import Learner

NOTES = "drift"
"""The key of this entry in a learner's notes."""
LAST = "last_drift"
"""The key of the last drift in this entry; there is none before the first drift."""


class LastDrift(NamedTuple):
    """The last drift that was found, when (in seconds since 1970), and at which row."""

    drift: Drift
    time: float
    where: str

    def to_json(self) -> dict[str, Any]:
        """Return it as an object for JSON."""
        return {**self.drift._asdict(), "time": self.time, "where": self.where}

    @property
    def text(self) -> str:
        """It in words, in local time."""
        when = datetime.fromtimestamp(self.time).strftime("%Y-%m-%d %H:%M:%S")
        drift = self.drift
        return (
            f"{when}, at {self.where}: {drift.now:.1%} predicted correctly, {drift.before:.1%} "
            f"before; most at {str(drift.label)!r}"
        )


class DriftNote:
    """A drift monitor and the last drift that it found."""

    def __init__(self, monitor: DriftMonitor | None = None, last: LastDrift | None = None) -> None:
        self.monitor, self.last = monitor or DriftMonitor(), last

    def to_json(self) -> dict[str, Any]:
        """Return the entry as values that JSON can hold."""
        values = self.monitor.to_json()
        return values if self.last is None else {**values, LAST: self.last.to_json()}

    @classmethod
    def of(cls, learner: Learner) -> Self:
        """Return the entry of a model's notes, or a new one; raise if another program wrote it."""
        if NOTES not in learner.notes:
            return cls()
        values = learner.notes[NOTES]
        try:
            monitor = DriftMonitor.from_json(values)
            return cls(monitor, _last(values.get(LAST)))
        except (
            InvalidInputError,
            KeyError,
            TypeError,
            ValueError,
            OverflowError,
            OSError,
        ) as error:
            raise InvalidInputError(
                f"The model's note {NOTES!r} was not written by `minout learn`; "
                "remove it from `Learner.notes` and save the model again."
            ) from error


def _last(values: Any) -> LastDrift | None:
    if values is None:
        return None
    before, now, rows, label = (values[name] for name in Drift._fields)
    if not isinstance(label, int | str):
        raise TypeError(label)
    drift = Drift(float(before), float(now), int(rows), label)
    last = LastDrift(drift, float(values["time"]), str(values["where"]))
    datetime.fromtimestamp(last.time)  # raises if there is no such time
    return last
