"""What a step of the margin rule did, and what is certain after it."""

from typing import NamedTuple

from minout.rules import Choice

Label = int | str
Id = int | str


class Certificate(NamedTuple):
    """States what holds for every stored example after a step.

    `moved` names the separators that moved, as pairs of labels. `checked` counts the stored
    examples of their classes, each against each of these separators: every one of them now has a
    public margin of at least `least_margin`, or is an exception. `exceptions` lists the ids that
    became exceptions in this step, `cleared` those that are none any more; nobody else changed
    sides. Examples of other classes are not touched: a fitted one is clipped by the separator
    between its own class and the unit's, and that did not move.
    """

    moved: tuple[tuple[Label, Label], ...]
    checked: int
    least_margin: float
    exceptions: tuple[Id, ...]
    cleared: tuple[Id, ...]


class Refresh(NamedTuple):
    """Tells of a pause in which origin, scale, metric and priors were renewed."""

    seconds: float
    choice: Choice
    chosen_anew: bool


class Consolidation(NamedTuple):
    """Tells what consolidate() found and chose."""

    certificate: Certificate
    refresh: Refresh
