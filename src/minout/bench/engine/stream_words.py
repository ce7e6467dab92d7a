"""The stream's rows in words."""

from collections.abc import Sequence

from minout.bench.engine import growth
from minout.bench.engine.growth import Growth
from minout.bench.engine.stream import Audited, Learned, Row, Speed
from minout.bench.engine.table import Claim, Table, percent


def tables(rows: Sequence[Row]) -> list[Table]:
    """Writes audits, accuracy, speed with its profile, and the cost of one example."""
    return [
        _audits([row for row in rows if isinstance(row, Audited)]),
        *(_learned(row) for row in rows if isinstance(row, Learned)),
        *(_speed(row) for row in rows if isinstance(row, Speed)),
        *growth.tables([row for row in rows if isinstance(row, Growth)]),
    ]


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Says what the issue asks of the stream."""
    audits = [row for row in rows if isinstance(row, Audited)]
    learned = next(row for row in rows if isinstance(row, Learned))
    speed = next(row for row in rows if isinstance(row, Speed))
    right = sum(row.agrees and row.listed for row in audits)
    least, most = sorted([learned.accuracy, learned.accuracy_consolidated])
    both = f"{percent(learned.accuracy)}, consolidated {percent(learned.accuracy_consolidated)}"
    worst = max(row.exceptions for row in audits)
    return [
        Claim(1, "test ≥ 99.3 %", both, least >= 0.993),
        Claim(1, "the goal: 99.4 %", both, most >= 0.994),
        Claim(
            1,
            "fitted or listed at 20 audits and at the end",
            f"{right} of {len(audits)} audits",
            right == len(audits) > 20,
        ),
        Claim(1, "at most 5 exceptions", f"{worst} at most", worst <= 5),
        Claim(2, "at most 60 times the floor", f"{speed.ratio:.1f}", speed.ratio <= 60),
        Claim(2, "the goal: 20 times", f"{speed.ratio:.1f}", speed.ratio <= 20),
        Claim(
            4,
            "above LDA with everything",
            f"{percent(learned.accuracy_consolidated)}, LDA {percent(learned.lda)}",
            learned.accuracy_consolidated > learned.lda,
        ),
    ]


def _audits(rows: list[Audited]) -> Table:
    lines = [
        (
            f"{row.stored:,}",
            "yes" if row.agrees else f"NO: {row.complaint}",
            "yes" if row.listed else "NO",
            str(row.exceptions),
            "–" if row.least_margin is None else f"{row.least_margin:.3f}",
            f"{row.slack:.0e}",
            str(row.unsure),
            f"{row.seconds:.2f} s",
        )
        for row in rows
    ]
    head = ("stored", "agrees", "listed", "exceptions", "least margin", "rounding", "unsure", "")
    note = (
        "Label order. Listed: the audit's exceptions, the learner's list and the sum of all "
        "certificates are one. The last line is after consolidate()."
    )
    return Table("1. Full audits of the stream", head, lines, note)


def _learned(row: Learned) -> Table:
    lines = [
        ("after the stream", percent(row.accuracy), str(row.exceptions)),
        (
            "after consolidate()",
            percent(row.accuracy_consolidated),
            str(row.exceptions_consolidated),
        ),
        ("streaming LDA, same features", percent(row.lda), ""),
    ]
    note = (
        f"{row.examples:,} examples; chosen: {row.chosen}. {row.features} features took "
        f"{row.features_seconds:.1f} s, test rows included; consolidate() "
        f"{row.consolidate_seconds:.1f} s. LDA is plain NumPy with the ridge of our metric."
    )
    return Table("1. Test accuracy", ("", "test", "exceptions"), lines, note)


def _speed(row: Speed) -> Table:
    def line(what: str, count: int, seconds: float) -> tuple[str, ...]:
        each = f"{1e3 * seconds / count:.3f}" if count else "–"
        share = percent(seconds / row.seconds, 1)
        return (
            what,
            f"{count:,}",
            f"{seconds:.2f}",
            each,
            share,
            f"{seconds / row.floor_single:.1f}",
        )

    lines = [
        line("no separator moved", row.fast, row.fast_seconds),
        line("separators moved", row.moved, row.moved_seconds),
        line("refresh", row.refreshes, row.refresh_seconds),
        line("all", row.examples, row.seconds),
        line("floor, float32", row.examples, row.floor_single),
        line("floor, float64", row.examples, row.floor_double),
    ]
    note = (
        f"Floor: one thread's NumPy W @ x, W ({row.separators}, {row.dimensions}), measured after "
        "each audit's share of the examples on these same examples. Audits are not counted."
    )
    head = ("steps", "examples", "seconds", "ms each", "share", "× floor")
    return Table("2. Wall time of the stream beside the floor", head, lines, note)
