"""What the paper says about sharing, beside what each point of the line did."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats
from minout.paper.figures.seeds import in_words
from minout.paper.figures.task import Claim
from minout.results import Row

TABLES = ("rows", "groups", "all")


class PointRuns(NamedTuple):
    """The runs of one point of the line, a row per seed."""

    kind: str
    size: int
    rows: list[Row]

    def values(self, name: str) -> Floats:
        """Return one value of every run: (seeds,)."""
        return np.array([row.values[name] for row in self.rows], dtype=np.float64)

    def mean(self, name: str) -> float:
        """Return the mean of one value over the seeds."""
        return float(self.values(name).mean())


def point_runs(rows: Sequence[Row], *kinds: str, rehearsing: bool) -> list[PointRuns]:
    """Return the points of some kinds in the order of the plan."""
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        values = row.values
        if values["kind"] in kinds and values["rehearsing"] == rehearsing:
            found.setdefault((values["kind"], values["size"]), []).append(row)
    return [PointRuns(kind, size, seeds) for (kind, size), seeds in found.items()]


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check both ends of the line, the points in between, and where minout is on it."""
    tables, tables_alone = (point_runs(rows, *TABLES, rehearsing=each) for each in (True, False))
    units, units_alone = (point_runs(rows, "minout", rehearsing=each) for each in (True, False))
    (network,) = point_runs(rows, "network", rehearsing=True)
    (network_alone,) = point_runs(rows, "network", rehearsing=False)
    return [
        _nothing_shared(tables[0]),
        _everything_shared(network_alone),
        _in_between(tables_alone, units_alone),
        _rehearsed([*tables, *units, network]),
        _best_of_both(units[0], network),
        _limited(units[0], tables[-1]),
    ]


def _nothing_shared(table: PointRuns) -> Claim:
    forgetting, train, test = (table.values(name) for name in ("forgetting", "train", "test"))
    return Claim(
        paper="a table with a θ for every input shares nothing, forgets nothing and generalises "
        "nothing (test accuracy within 5 points of chance)",
        measured=f"forgetting {_points(table, 'forgetting')}, training {_points(table, 'train')}, "
        f"test {_points(table, 'test')} %",
        holds=bool((forgetting == 0).all() and (train == 1).all() and (test <= 0.15).all()),
    )


def _everything_shared(network: PointRuns) -> Claim:
    return Claim(
        paper="a network whose θ is shared by all examples forgets catastrophically "
        "(more than half)",
        measured=f"forgetting {_points(network, 'forgetting')}, test {_points(network, 'test')} %, "
        "without rehearsal",
        holds=bool((network.values("forgetting") > 0.5).all()),
    )


def _in_between(tables: Sequence[PointRuns], units: Sequence[PointRuns]) -> Claim:
    lost = [np.array([100 * runs.mean("forgetting") for runs in line]) for line in (tables, units)]
    table, minout = (", ".join(f"{each:.0f}" for each in line) for line in lost)
    sizes = ", ".join(str(runs.size) for runs in units)
    return Claim(
        paper="reducing the level of parameter sharing reduces forgetting",
        measured=f"without rehearsal, forgetting is {table} points from T[x] to one θ, and "
        f"{minout} for minout with k = {sizes}",
        holds=bool(all((np.diff(line) > 0).all() for line in lost)),
    )


def _rehearsed(line: Sequence[PointRuns]) -> Claim:
    kept = min(float(runs.values("train").min()) for runs in line)
    most = max(line, key=lambda runs: runs.mean("forgetting"))
    return Claim(
        paper="rehearsing the interfered examples prevents forgetting, if the model has enough "
        "capacity (training accuracy 100 % at the end)",
        measured=f"at least {100 * kept:.1f} % of the training examples at every point and seed; "
        f"on test rows, forgetting is at most {_points(most, 'forgetting')} points",
        holds=kept == 1,
    )


def _best_of_both(unit: PointRuns, network: PointRuns) -> Claim:
    behind = 100 * (network.values("test") - unit.values("test"))
    worse = 100 * (unit.values("forgetting") - network.values("forgetting"))
    return Claim(
        paper="minout lies in the middle: it generalises like a network and forgets less (within "
        "5 points of the network that rehearses everything)",
        measured=f"k = {unit.size}: test {_points(unit, 'test')} %, forgetting "
        f"{_points(unit, 'forgetting')}; network: {_points(network, 'test')} %, "
        f"{_points(network, 'forgetting')}",
        holds=bool(behind.mean() <= 5 and worse.mean() <= 5),
    )


def _limited(unit: PointRuns, theta: PointRuns) -> Claim:
    fewer = (unit.values("at_risk") < theta.values("at_risk")).all()
    cheaper = (unit.values("rehearsed") < theta.values("rehearsed")).all()
    return Claim(
        paper="only a limited set has to be rehearsed (fewer than for one θ)",
        measured=f"in a step of a unit {in_words(unit.values('at_risk'))}, of one θ "
        f"{in_words(theta.values('at_risk'))}; but over the units and steps that an example takes, "
        f"{in_words(unit.values('rehearsed'))} and {in_words(theta.values('rehearsed'))} "
        "different ones",
        holds=bool(fewer) if fewer == cheaper else None,
    )


def _points(runs: PointRuns, name: str) -> str:
    return in_words(100 * runs.values(name))
