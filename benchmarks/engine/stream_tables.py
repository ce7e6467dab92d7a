"""Tables and goals of the parts `stream` and `growth`."""

from collections.abc import Sequence

from benchmarks.engine.stream import AccuracyRow, AuditRow, GrowthRow, Row, SpeedRow
from benchmarks.tables import Goal, Table, ms, percent, yes


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return audits, accuracy, wall time by kind of step, and the cost of one example."""
    return [
        _audit_table([row for row in rows if isinstance(row, AuditRow)]),
        *(_accuracy_table(row) for row in rows if isinstance(row, AccuracyRow)),
        *(_speed_table(row) for row in rows if isinstance(row, SpeedRow)),
        *growth_tables([row for row in rows if isinstance(row, GrowthRow)]),
    ]


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the goals of the stream."""
    audits = [row for row in rows if isinstance(row, AuditRow)]
    result = next(row for row in rows if isinstance(row, AccuracyRow))
    speed = next(row for row in rows if isinstance(row, SpeedRow))
    right = sum(row.agrees and row.listed for row in audits)
    least = min(result.accuracy, result.accuracy_consolidated)
    both = f"{percent(result.accuracy)}, consolidated {percent(result.accuracy_consolidated)}"
    misfits = max(row.misfits for row in audits)
    ratio = f"{speed.ratio:.1f}"
    beside_lda = f"{percent(result.accuracy_consolidated)}, LDA {percent(result.lda)}"
    above_lda = result.accuracy_consolidated > result.lda
    return [
        Goal("stream", "test ≥ 99.4 %", both, least >= 0.994),
        Goal(
            "stream",
            "fitted or listed at 20 audits and at the end",
            f"{right} of {len(audits)} audits",
            right == len(audits) > 20,
        ),
        Goal("stream", "at most 5 misfits", f"{misfits} at most", misfits <= 5),
        Goal("stream", "at most 35 times the floor", ratio, speed.ratio <= 35),
        Goal("stream", "above LDA with all examples", beside_lda, above_lda),
    ]


def growth_tables(rows: Sequence[GrowthRow]) -> list[Table]:
    """Return a line for each number of stored examples."""
    lines = [
        (
            row.order,
            f"{row.stored:,}",
            f"{row.window:,}",
            ms(row.mean),
            ms(row.mean_between),
            ms(row.refreshes_spread),
            ms(row.median),
            ms(row.p99),
            ms(row.maximum),
            f"{row.moved} / {row.refreshes}",
        )
        for row in rows
    ]
    head = (
        "order",
        "stored",
        "window",
        "mean",
        "without refreshes",
        "refreshes, spread",
        "median",
        "99 %",
        "maximum",
        "moved / refreshes",
    )
    note = (
        "Milliseconds per example, over the last examples before that many were stored. A refresh "
        "comes when the number of examples has doubled; spread: all so far over all examples so "
        "far. In label order MNIST's first 5,923 are one class, so growth is judged by the "
        "shuffled stream."
    )
    return [Table("3. Cost of one example", head, lines, note)] if rows else []


def growth_goals(rows: Sequence[GrowthRow]) -> list[Goal]:
    """Return the goals of growth, from the fewest to the most stored examples."""
    first, last = rows[0], rows[-1]
    return [
        Goal(
            "growth",
            "the mean does not grow",
            f"{ms(first.long_run)} → {ms(last.long_run)} ms, refreshes spread",
            last.long_run <= first.long_run,
        ),
        Goal(
            "growth",
            "the 99th percentile grows by less than 4",
            f"{ms(first.p99)} → {ms(last.p99)} ms, × {last.p99 / first.p99:.1f}",
            last.p99 < 4 * first.p99,
        ),
    ]


def _audit_table(rows: list[AuditRow]) -> Table:
    lines = [
        (
            f"{row.stored:,}",
            "yes" if row.agrees else f"NO: {row.difference}",
            yes(row.listed),
            str(row.misfits),
            "–" if row.least_margin is None else f"{row.least_margin:.3f}",
            f"{row.rounding_error:.0e}",
            str(row.unsure),
            f"{row.seconds:.2f} s",
        )
        for row in rows
    ]
    head = ("stored", "agrees", "listed", "misfits", "least margin", "rounding", "unsure", "")
    note = (
        "Label order. Listed: the audit's misfits, the learner's list and the sum of all "
        "certificates are the same. The last line is after consolidate()."
    )
    return Table("1. Full audits of the stream", head, lines, note)


def _accuracy_table(row: AccuracyRow) -> Table:
    consolidated = percent(row.accuracy_consolidated)
    lines = [
        ("after the stream", percent(row.accuracy), str(row.misfits)),
        ("after consolidate()", consolidated, str(row.misfits_consolidated)),
        ("streaming LDA, same features", percent(row.lda), ""),
    ]
    note = (
        f"{row.examples:,} examples; chosen: {row.chosen}. {row.features} features took "
        f"{row.features_seconds:.1f} s, test rows included; consolidate() "
        f"{row.consolidate_seconds:.1f} s. LDA is plain NumPy with the ridge of our metric."
    )
    return Table("1. Test accuracy", ("", "test", "misfits"), lines, note)


def _speed_table(row: SpeedRow) -> Table:
    def line(kind: str, count: int, seconds: float) -> tuple[str, ...]:
        each = f"{1e3 * seconds / count:.3f}" if count else "–"
        share = percent(seconds / row.seconds, 1)
        ratio = f"{seconds / row.floor_single:.1f}"
        return kind, f"{count:,}", f"{seconds:.2f}", each, share, ratio

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
