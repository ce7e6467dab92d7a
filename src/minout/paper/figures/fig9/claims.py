"""What the paper expects of data with many modes, beside the accuracies measured."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats
from minout.paper.figures.seeds import in_words
from minout.paper.figures.task import Claim
from minout.results import Row

CLOSE = 2.0
"""Points of test accuracy within which one policy is as good as the other, as in Fig. 4."""


class Sweep(NamedTuple):
    """The runs of one learner: `modes` lists the numbers of modes, ascending."""

    name: str
    budget: int
    modes: list[int]
    rows: list[Row]

    def values(self, policy: str, name: str) -> Floats:
        """Return one value of every run of a policy: (numbers of modes, seeds)."""
        return np.array(
            [
                [
                    row.values[name]
                    for row in self.rows
                    if (row.settings["policy"], row.settings["modes"]) == (policy, modes)
                ]
                for modes in self.modes
            ],
            dtype=np.float64,
        )

    def lead(self, name: str) -> Floats:
        """Return by how many points conditional is ahead of random: (numbers of modes, seeds)."""
        return 100 * (self.values("conditional", name) - self.values("uniform", name))


def sweeps(rows: Sequence[Row]) -> list[Sweep]:
    """Return the runs of each learner, in the order of the plan."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        knobs = row.settings
        name = f"rate {knobs['learning_rate']}, rehearsal loss: {knobs['reduction']}"
        found.setdefault(name, []).append(row)
    return [
        Sweep(
            name,
            runs[0].settings["budget"],
            sorted({row.settings["modes"] for row in runs}),
            runs,
        )
        for name, runs in found.items()
    ]


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check for each learner where conditional rehearsal is ahead, and how much it rehearses."""
    return [
        claim
        for sweep in sweeps(rows)
        for claim in (_many_modes(sweep), _few_modes(sweep), _selective(sweep))
    ]


def _many_modes(sweep: Sweep) -> Claim:
    many = np.array(sweep.modes) > sweep.budget
    ahead = sweep.lead("test").mean(axis=1)[many] > CLOSE
    return Claim(
        paper="conditional is advantageous where there are more modes than rehearsed examples "
        f"(by more than {CLOSE:.0f} points of test accuracy; {sweep.name})",
        measured=_leads(sweep, many),
        holds=bool(ahead.all()) if ahead.all() == ahead.any() else None,
    )


def _few_modes(sweep: Sweep) -> Claim:
    few = np.array(sweep.modes) <= sweep.budget
    lead = sweep.lead("test").mean(axis=1)[few]
    return Claim(
        paper="random is as good where the rehearsed examples can cover the modes "
        f"(within {CLOSE:.0f} points of test accuracy; {sweep.name})",
        measured=_leads(sweep, few),
        holds=bool((np.abs(lead) <= CLOSE).all()),
    )


def _leads(sweep: Sweep, chosen: Bools) -> str:
    """Return the leads at some numbers of modes, in words."""
    train, test = sweep.lead("train"), sweep.lead("test")
    return "; ".join(
        f"{sweep.modes[i]:,} modes: ahead by {in_words(test[i])} points of test accuracy, "
        f"{in_words(train[i])} of training"
        for i in np.flatnonzero(chosen)
    )


def _selective(sweep: Sweep) -> Claim:
    chosen, drawn = (sweep.values(policy, "rehearsed") for policy in ("conditional", "uniform"))
    found = sweep.values("conditional", "at_risk").mean(axis=1)
    each = ", ".join(f"{value:.0f}" for value in chosen.mean(axis=1))
    modes = ", ".join(f"{value:,}" for value in sweep.modes)
    return Claim(
        paper=f"conditional is more selective (rehearses fewer per step; {sweep.name})",
        measured=f"{each} per step with {modes} modes, of {', '.join(f'{n:.0f}' for n in found)} "
        f"at risk; random: {drawn.mean():.0f}",
        holds=bool((chosen < drawn).all()),
    )
