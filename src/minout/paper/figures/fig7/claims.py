"""What the appendix expects of the sets around a step, beside the sizes measured."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats
from minout.paper.figures.seeds import in_words
from minout.paper.figures.task import Claim
from minout.results import Row


class Sweep(NamedTuple):
    """The runs in which one parameter was varied and the other fixed: `at` lists its values."""

    knob: str
    at: list[int]
    rows: list[Row]

    def values(self, policy: str, name: str) -> Floats:
        """Return one value of every run of a policy: (values of the parameter, seeds)."""
        return np.array(
            [
                [
                    row.values[name]
                    for row in self.rows
                    if row.settings["policy"] == policy and row.settings[self.knob] == value
                ]
                for value in self.at
            ],
            dtype=np.float64,
        )

    def leaking(self, policy: str) -> Floats:
        """Return the percentage of steps in which an example not rehearsed changed sides."""
        return 100 * self.values(policy, "leaks") / self.values(policy, "steps")


def over_units(rows: Sequence[Row]) -> Sweep:
    """Return the runs with a growing number of classes and a fixed number of neurons."""
    fewest = min(rows, key=lambda row: row.settings["classes"])
    return _sweep(rows, "classes", "neurons", fewest.settings["neurons"])


def over_neurons(rows: Sequence[Row]) -> Sweep:
    """Return the runs with a growing number of neurons per unit and the most classes."""
    most = max(rows, key=lambda row: row.settings["classes"])
    return _sweep(rows, "neurons", "classes", most.settings["classes"])


def _sweep(rows: Sequence[Row], knob: str, held: str, value: int) -> Sweep:
    kept = [row for row in rows if row.settings[held] == value]
    return Sweep(knob, sorted({row.settings[knob] for row in kept}), kept)


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check how large the sets are, and whether they include all that a step can disturb."""
    units, neurons = over_units(rows), over_neurons(rows)
    return [*_sizes(units, neurons), *_reach(units)]


def _sizes(units: Sweep, neurons: Sweep) -> list[Claim]:
    most, per_class = units.at[-1], units.rows[0].settings["per_class"]
    inside = 100 * units.values("conditional", "inside")[-1] / (most * per_class)
    by_units = units.values("conditional", "rehearsed")
    by_neurons = neurons.values("conditional", "rehearsed")
    own = units.values("conditional", "own_class")
    s1, s2 = own[-1].mean(), (by_units - own)[-1].mean()
    return [
        Claim(
            paper=f"S1 is approximately one in {most} of the training examples (within a tenth)",
            measured=in_words(inside, " %") + " at the end",
            holds=bool(np.abs(inside * most / 100 - 1).max() <= 0.1),
        ),
        Claim(
            paper=f"so a unit rehearses about one class, {per_class} examples, however many units "
            "there are (we ask: at most twice that)",
            measured=f"{in_words(by_units[0])} with {units.at[0]} units, "
            f"{in_words(by_units[-1])} with {most} (over the steps, not the units: "
            f"{in_words(units.values('conditional', 'rehearsed_per_step')[-1])})",
            holds=bool((by_units <= 2 * per_class).all()),
        ),
        Claim(
            paper="S2 can be small if most negative examples are clipped at more than one neuron "
            "(we ask: smaller than the unit's own class)",
            measured=f"{s2:.1f} of others beside {s1:.1f} of its own class, with {most} units",
            holds=bool(s2 < s1),
        ),
        Claim(
            paper="the set to rehearse could be small if enough neurons are maxed out",
            measured=f"{in_words(by_neurons[0])} with {neurons.at[0]} neurons, "
            f"{in_words(by_neurons[-1])} with {neurons.at[-1]}",
            holds=bool((np.diff(by_neurons.mean(axis=1)) < 0).all()),
        ),
    ]


def _reach(units: Sweep) -> list[Claim]:
    """Check the runs with the most units: what a step can really disturb, and the cost."""
    exact, missed, misplaced = (
        units.values("conditional", name)[-1] for name in ("exact", "missed", "misplaced")
    )
    leaks, tight = units.leaking("conditional")[-1], units.values("closed", "leaks")[-1]
    more, steps = (_ratio(units, name) for name in ("rehearsed", "steps"))
    gain = 100 * (units.values("closed", "test") - units.values("conditional", "test"))[-1]
    return [
        Claim(
            paper="only examples in S1 and S2 are interfered (the rehearsed ones move neurons too)",
            measured=f"of {in_words(exact)} within reach of a step, {in_words(missed)} are not "
            f"rehearsed; {in_words(leaks, ' %')} of the steps leak, "
            f"{in_words(misplaced)} times an example ends on the wrong side of a unit",
            holds=bool((leaks == 0).all()),
        ),
        Claim(
            paper="not in the paper: rehearse all that the moved neurons can disturb (closed), "
            "and no step leaks",
            measured=f"{tight.sum():.0f} leaks; {in_words(more)} times as many rehearsed, "
            f"{in_words(steps, digits=2)} times the steps, test {gain.mean():+.1f} points",
            holds=bool((tight == 0).all()),
        ),
    ]


def _ratio(units: Sweep, name: str) -> Floats:
    return np.asarray(units.values("closed", name)[-1] / units.values("conditional", name)[-1])
