"""What a step tells the caller: what moved, what was checked, what holds now."""

from typing import NamedTuple

from minout._typing import Id, Label
from minout.engine.choice import Choice


class Certificate(NamedTuple):
    """What holds for every stored example after a step.

    Examples of classes that no moved separator belongs to are not touched: a fitted one is clipped
    by the separator between its own class and the other, and that did not move.

    Attributes
    ----------
    moved : tuple of (label, label)
        The separators that moved.
    checked : int
        How many margins were checked: every stored example of the classes concerned, against each
        separator that moved.
    least_margin : float
        Every margin that was checked is at least this, except those of misfits.
    misfits : tuple of id
        The examples that became misfits in this step.
    cleared : tuple of id
        The examples that were misfits before this step and no longer are.
    """

    moved: tuple[tuple[Label, Label], ...]
    checked: int
    least_margin: float
    misfits: tuple[Id, ...]
    cleared: tuple[Id, ...]


NOTHING_MOVED = Certificate((), 0, float("inf"), (), ())


class Refresh(NamedTuple):
    """A pause in which origin, scale, metric and priors were renewed.

    Attributes
    ----------
    seconds : float
        How long it took.
    choice : Choice
        The settings that hold from now on.
    chosen_anew : bool
        Whether the settings were chosen again, by cross-validation.
    """

    seconds: float
    choice: Choice
    chosen_anew: bool


class Consolidation(NamedTuple):
    """What `consolidate()` checked and chose."""

    certificate: Certificate
    refresh: Refresh


class StepReport(NamedTuple):
    """What teaching or correcting one example did.

    Attributes
    ----------
    example_id : int or str
        The id of the example.
    label : int or str
        Its label.
    certificate : Certificate
        What holds for every stored example now.
    refresh : Refresh or None
        The renewal of origin, scale, metric and priors that this step brought, if it did.
    """

    example_id: Id
    label: Label
    certificate: Certificate
    refresh: Refresh | None = None
