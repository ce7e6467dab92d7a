"""The reports that steps return to the caller."""

from typing import NamedTuple

from minout._typing import Id, Label
from minout.core.choice import Choice


class Certificate(NamedTuple):
    """What a step moved and checked, and how the list of misfits changed.

    Only examples of the two classes of a separator that moved are checked. A fitted example of a
    third class keeps its label: its separators from the two classes did not move, and by these the
    scores of both classes are negative at it.

    Attributes
    ----------
    moved : tuple of (label, label)
        The pairs of labels of which a separator moved. Those of a region that has lost its last
        example are gone and not named: without them no other example can lose its fit. With more
        than 200 labels (see `near_classes`) a refresh moves all, and those for which something is
        stored are named.
    checked : int
        The number of margins checked: those of all stored examples of its two regions, for each
        separator that moved.
    least_margin : float
        A lower bound on all margins that were checked, except those of misfits. If teaching moved
        nothing, the smallest margin of the new example.
    misfits : tuple of id
        The examples that became misfits in this step.
    cleared : tuple of id
        The examples that were misfits before this step and no longer are.
    pending : tuple of (label, label)
        The separators in which the new example has a margin below 0.5 and waits: they have many
        support vectors, and move when enough examples wait (or `settle()` is called).
    forgotten : tuple of id
        The examples that this step removed: those that fell out of the window (`keep`), or that
        were forgotten. A new example that is itself too old for the window
        is not stored, and is among them.
    """

    moved: tuple[tuple[Label, Label], ...]
    checked: int
    least_margin: float
    misfits: tuple[Id, ...]
    cleared: tuple[Id, ...]
    pending: tuple[tuple[Label, Label], ...] = ()
    forgotten: tuple[Id, ...] = ()


NOTHING_MOVED = Certificate((), 0, float("inf"), (), ())


class Refresh(NamedTuple):
    """A long step in which scale, metric and priors were computed again, and all separators solved.

    Attributes
    ----------
    seconds : float
        Its duration.
    choice : Choice
        The settings in use from now on.
    chose_settings : bool
        Whether the settings were chosen again, by cross-validation.
    """

    seconds: float
    choice: Choice
    chose_settings: bool


class Consolidation(NamedTuple):
    """The result of `consolidate()`.

    Attributes
    ----------
    certificate : Certificate
        What moved, and how the list of misfits changed.
    refresh : Refresh
        The duration, and the settings that were chosen.
    """

    certificate: Certificate
    refresh: Refresh


class StepReport(NamedTuple):
    """The result of teaching or correcting one example.

    Attributes
    ----------
    example_id : int or str
        The id of the example.
    label : int or str
        Its label.
    certificate : Certificate
        What moved, what was checked, and how the list of misfits changed.
    refresh : Refresh or None
        The refresh, if this step included one.
    was_right : bool or None
        Whether the model predicted this label for the example before it was taught. None if no
        example had the label yet, if the example was stored already, and for corrections.
    """

    example_id: Id
    label: Label
    certificate: Certificate
    refresh: Refresh | None = None
    was_right: bool | None = None

    @property
    def pending(self) -> tuple[tuple[Label, Label], ...]:
        """The separators in which the example waits until they are solved; see `Certificate`."""
        return self.certificate.pending
