"""Four readers beside a writer see complete states only."""

from faults.reading import readers_and_writer
from long import LONG

SECONDS = 600.0 if LONG else 3.0


def test_four_readers_beside_a_writer_never_see_half_a_change(tmp_path):
    found, taught = readers_and_writer(tmp_path / "model", readers=4, seconds=SECONDS, window=120)
    assert [each.problems for each in found] == [[]] * 4
    assert taught > 20
    assert min(each.reloads for each in found) >= 2
