"""Go back to an earlier state, after several steps of teaching."""

from minout.engine.classes import Members
from minout.engine.separators import Separator, pair_count
from minout.engine.state import Delta, State


class Rollback:
    """Collect, over several steps of teaching, the change that restores the first state.

    Parameters
    ----------
    state : State
        The state to restore, before the first step.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._start = Delta(
            examples=state.examples,
            class_count=len(state.classes),
            frame=state.frame,
            move=state.last_move,
            next_id=state.next_id,
            widths=state.widths,
            consolidated=state.consolidated,
        )
        self._members: dict[int, Members] = {}
        self._separators: dict[int, Separator] = {}
        self._violations: dict[int, int] = {}
        self._listed: dict[int, int] = {}

    def record(self, delta: Delta) -> None:
        """Record the values that a change will replace, unless an earlier one replaced them."""
        classes, separators = self._state.classes, self._state.separators
        known = self._start.class_count or 0
        for c in delta.members:
            if c < known and c not in self._members:
                self._members[c] = classes.members[c]
        for pair in delta.separators:
            if pair < pair_count(known) and pair not in self._separators:
                old = separators[pair]
                self._separators[pair] = old._replace(w=old.w.copy())
        for place in delta.violations:
            if self._start.examples is not None and place < self._start.examples.end:
                self._violations.setdefault(place, int(separators.violations[place]))
        for digest in delta.listed:
            self._listed.setdefault(digest, separators.listed.get(digest, 0))

    def delta(self) -> Delta:
        """Return the change that restores the state."""
        return self._start._replace(
            members=self._members,
            separators=self._separators,
            violations=self._violations,
            listed=self._listed,
        )
