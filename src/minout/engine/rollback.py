"""Go back to an earlier state, after several steps of teaching or correcting."""

from minout._typing import Id, Label
from minout.engine.far import ClassRow
from minout.engine.regions import Members, Regions
from minout.engine.separators import Separator, Separators, pair_count
from minout.engine.state import Delta, Restored, State


class Rollback:
    """Collect, over several steps of teaching or correcting, what restores the first state.

    Parameters
    ----------
    state : State
        The state to restore, before the first step.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._start = Delta(
            examples=state.examples,
            region_count=len(state.regions),
            frame=state.frame,
            move=state.last_move,
            next_id=state.next_id,
            taught=state.taught,
            widths=state.widths,
            consolidated=state.consolidated,
        )
        self._known, self._end = len(state.regions), state.examples.end
        self._members: dict[int, Members] = {}
        self._separators: dict[int, Separator] = {}
        self._separators_then: Separators | None = None
        self._regions_then: Regions | None = None
        self._discriminants: dict[int, ClassRow] = {}
        self._restored: dict[int, Restored] = {}
        self._corrected: dict[Id, tuple[Label, ...]] = {}
        self._violations: dict[int, int] = {}
        self._listed: dict[int, int] = {}

    def record(self, delta: Delta) -> None:
        """Record the values that a change will replace, unless an earlier one replaced them."""
        separators, end = self._state.separators, self._end
        self._record_places(delta)
        self._record_regions(delta)
        self._record_separators(delta)
        for place in [place for place in delta.violations if place < end]:
            self._violations.setdefault(place, int(separators.violations[place]))
        for digest in delta.listed:
            self._listed.setdefault(digest, separators.listed.get(digest, 0))
        for example_id in delta.corrected:
            self._corrected.setdefault(example_id, self._state.corrected.get(example_id, ()))

    def _record_regions(self, delta: Delta) -> None:
        if self._regions_then is not None:
            return  # they are not changed any more once they were replaced
        regions = self._state.regions
        if delta.reduced is None:
            changed = [c for c in delta.members if c < self._known and c not in self._members]
            self._members |= {c: regions.members[c] for c in changed}
        if delta.reduced is not None or delta.all_regions is not None:
            self._regions_then = regions

    def _record_separators(self, delta: Delta) -> None:
        if self._separators_then is not None:
            return
        separators, known = self._state.separators, self._known
        if delta.reduced is None:
            for row in delta.discriminants:
                if row.c < known and row.c not in self._discriminants:
                    assert separators.far is not None
                    self._discriminants[row.c] = separators.far.class_row(row.c)
            for pair in delta.separators:
                if pair < pair_count(known) and pair not in self._separators:
                    self._separators[pair] = separators[pair].copy()
        if delta.reduced is not None or delta.all_separators is not None:
            self._separators_then = separators

    def delta(self) -> Delta:
        """Return the change that restores the state."""
        return self._start._replace(
            members=self._members,
            separators=self._separators,
            all_separators=self._separators_then,
            all_regions=self._regions_then,
            discriminants=tuple(reversed(self._discriminants.values())),  # the oldest last
            violations=self._violations,
            listed=self._listed,
            restored=self._restored,
            corrected=self._corrected,
        )

    def _record_places(self, delta: Delta) -> None:
        # Rows that the change removes or relabels, or whose places it uses; what was added since is
        # not kept.
        state, then, frame = self._state, self._start.examples, self._start.frame
        assert then is not None
        assert frame is not None
        places = delta.removed.tolist()
        if delta.examples is not None and delta.added is not None:
            places = [*places, delta.examples.added]
        if delta.relabelled is not None:
            places = [*places, delta.relabelled[0]]
        for place in places:
            if place >= then.end or place in self._restored:
                continue
            if not state.examples.stored[place]:
                self._restored[place] = Restored()
            else:
                row, image = then.at(place), frame.images.at(place)
                self._restored[place] = Restored(state.ids[place], row, image)
