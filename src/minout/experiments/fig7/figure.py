"""The sets around a step against units and neurons; what leaks, and what closing the set costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from minout._typing import Floats
from minout.experiments import ink
from minout.experiments.fig7.sweep import Sweep, over_neurons, over_units
from minout.experiments.seeds import in_words
from minout.experiments.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#666666"
COLOURS = {"closed": ink.CLOSED, "conditional": ink.CONDITIONAL}
PANELS = ("examples per step of a unit", "steps that\nleak (%)", "test\naccuracy (%)")


def draw(rows: Sequence[Row]) -> "Figure":
    """Draws the mean over the seeds, with whiskers to the lowest and the highest.

    Sizes are averaged over the units that moved, as in Fig. 3; leaks are counted over all steps.
    """
    figure = ink.new_figure(9.6, 7.2)
    grid = figure.subplots(3, 2, sharex="col", sharey="row", height_ratios=[3.4, 1, 1])
    for axes, words in zip(grid[:, 0], PANELS, strict=True):
        axes.set_ylabel(words)
    for column, sweep in zip(grid.T, (over_units(rows), over_neurons(rows)), strict=True):
        _frame(column, sweep)
        _sets(column[0], sweep)
        for policy, colour in COLOURS.items():
            _curve(column[1], sweep, sweep.leaking(policy), colour)
            _curve(column[2], sweep, 100 * sweep.values(policy, "test"), colour)
        column[0].set_ylim(bottom=0)
        column[1].set_ylim(bottom=-1)
    _words(grid[:, 1], over_neurons(rows))
    _mark_one_class(grid[0, 0], over_units(rows))
    _note_caps(figure, rows)
    figure.align_ylabels()
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Sets the appendix's expectations, and the theorem's, beside the sizes measured."""
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
            f"{in_words(by_units[-1])} with {most}",
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
    """Judges the runs with the most units: whom a step can really reach, and what that costs."""
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
            f"{in_words(misplaced)} examples end on a wrong side",
            holds=bool((leaks == 0).all()),
        ),
        Claim(
            paper="not in the paper: rehearse whoever the moved neurons can reach (closed), "
            "and no step leaks",
            measured=f"{tight.sum():.0f} leaks; {in_words(more)} times as many rehearsed, "
            f"{in_words(steps, digits=2)} times the steps, test {gain.mean():+.1f} points",
            holds=bool((tight == 0).all()),
        ),
    ]


def _ratio(units: Sweep, name: str) -> Floats:
    return np.asarray(units.values("closed", name)[-1] / units.values("conditional", name)[-1])


def _frame(column: Sequence["Axes"], sweep: Sweep) -> None:
    for axes in column:
        ink.tidy(axes)
    first, last = column[0], column[-1]
    if sweep.knob == "classes":
        neurons = sweep.rows[0].settings["neurons"]
        first.set_title(f"more units, each of {neurons} neurons", fontsize=10, loc="left")
        last.set(xlabel="units (classes taught)", xticks=sweep.at)
    else:
        classes = sweep.rows[0].settings["classes"]
        first.set_title(f"{classes} units, each of more neurons", fontsize=10, loc="left")
        last.set(xlabel="neurons per unit", xscale="log")
        last.set_xticks(sweep.at, [str(value) for value in sweep.at])
        last.minorticks_off()


def _sets(axes: "Axes", sweep: Sweep) -> None:
    """Shades what conditional rehearses by its two parts, under what it should and closed does."""
    own, asked, stored = (
        sweep.values("conditional", name).mean(axis=1)
        for name in ("own_class", "rehearsed", "stored")
    )
    axes.fill_between(sweep.at, 0, own, color=ink.S1, linewidth=0)
    axes.fill_between(sweep.at, own, asked, color=ink.S2, linewidth=0)
    axes.plot(sweep.at, stored, color=GREY, linewidth=1.4, linestyle=(0, (1, 1.5)))
    _curve(axes, sweep, sweep.values("closed", "rehearsed"), ink.CLOSED)
    _curve(axes, sweep, sweep.values("conditional", "exact"), ink.CONDITIONAL, hollow=True)
    _curve(axes, sweep, sweep.values("conditional", "rehearsed"), ink.CONDITIONAL)


def _curve(
    axes: "Axes", sweep: Sweep, values: Floats, colour: str, *, hollow: bool = False
) -> None:
    """Draws values (points, seeds); what is hollow and dashed was within reach, not rehearsed."""
    mean = values.mean(axis=1)
    axes.errorbar(
        sweep.at, mean, yerr=np.abs([values.min(axis=1) - mean, values.max(axis=1) - mean]),
        color=colour, linewidth=1.6, linestyle=(0, (4, 2)) if hollow else "-", elinewidth=1,
        marker="o", markersize=4.5, markerfacecolor="white" if hollow else colour,
    )  # fmt: skip


def _words(column: Sequence["Axes"], sweep: Sweep) -> None:
    """Names every curve and area where it is, in the sweep over neurons."""
    own, asked, exact, stored = (
        sweep.values("conditional", name).mean(axis=1)
        for name in ("own_class", "rehearsed", "exact", "stored")
    )
    closed = sweep.values("closed", "rehearsed").mean(axis=1)
    middle, end, sets = len(sweep.at) // 2, len(sweep.at) - 1, column[0]
    x = sweep.at[middle]
    _say(sets, "all that is stored", (sweep.at[end], stored[end]), GREY, (0, -5), ha="right")
    _say(sets, "within reach of the step", (x, exact[middle]), ink.CONDITIONAL, (5, 4))
    _say(sets, "closed rehearses", (x, closed[middle]), ink.CLOSED, (-2, -6), ha="right")
    _say(sets, "conditional rehearses", (x, asked[middle]), ink.CONDITIONAL, (5, 4))
    _say(sets, r"its own class, $\mathcal{S}_1$", (x, own[middle] / 2), ink.INK, ha="center")
    _say(sets, r"others, $\mathcal{S}_2$", (x, (own + asked)[middle] / 2), ink.INK, ha="center")
    leaking = sweep.leaking("conditional").mean(axis=1)
    _say(column[1], "conditional", (x, leaking[middle]), ink.CONDITIONAL, (5, -14))
    _say(column[1], "closed: none", (x, 0), ink.CLOSED, (5, 4))


def _say(
    axes: "Axes", words: str, at: tuple[float, float], colour: str,
    offset: tuple[float, float] = (0, 0), *, ha: Literal["left", "center", "right"] = "left",
) -> None:  # fmt: skip
    """Writes beside a point, `offset` in typographic points: above it, below it or, at 0, on it."""
    va = {1.0: "bottom", -1.0: "top", 0.0: "center"}[float(np.sign(offset[1]))]
    axes.annotate(
        words, at, offset, textcoords="offset points", color=colour, fontsize=9, va=va, ha=ha
    )


def _mark_one_class(axes: "Axes", sweep: Sweep) -> None:
    """Draws the paper's expectation: a unit rehearses as many as its class has."""
    per_class = sweep.rows[0].settings["per_class"]
    axes.axhline(per_class, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    axes.annotate(
        f"the paper's expectation:\none class, {per_class}", (0.03, per_class), (0.03, 0.62),
        xycoords=axes.get_yaxis_transform(), textcoords="axes fraction", color=GREY, fontsize=9,
        arrowprops={"arrowstyle": "->", "color": GREY, "relpos": (0, 0), "shrinkB": 1},
    )  # fmt: skip


def _note_caps(figure: "Figure", rows: Sequence[Row]) -> None:
    if caps := sum(row.values["caps"] for row in rows):
        steps = rows[0].settings["max_steps"]
        lessons = sum(row.values["lessons"] for row in rows)
        figure.supxlabel(
            f"{caps} of {lessons:,} lessons ended at the cap of {steps:,} steps, not learned",
            fontsize=9, color=ink.SGD,
        )  # fmt: skip
