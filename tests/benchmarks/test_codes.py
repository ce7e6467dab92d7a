"""The part `codes` of the engine's benchmark: its rows, and that a lost original is seen."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.engine import TESTING, codes
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import Pins
from benchmarks.parts import no_progress
from minout.streams import digits, pick_per_class
from oracle.parts import expect_survives, expect_whole, measured_of


@pytest.fixture(scope="module")
def rows():
    data = pick_per_class(digits(), 8, np.random.default_rng(0))
    pins = Pins(C=5.0, whiten=False, lda_prior=False, standardize=False, regions=1, expand=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "AUTOMATIC", pins)
        return codes.measure(Inputs(data, replace(TESTING, seeds=(0,))), no_progress)


def test_the_part_gives_rows_tables_and_goals(rows, tmp_path):
    measured = measured_of("codes", rows)
    expect_whole(measured)
    expect_survives(measured.rows, tmp_path / "rows.jsonl")


def test_every_memory_is_measured_on_every_set(rows):
    found = [(row.data, row.memory) for row in rows if row.seed == 0]
    ways = ["floats", "uint8", "uint4", "uint2", "fitted, 4 bits", "fitted, 2 bits", "product"]
    assert found == [(data, way) for data in ("pixels", "scattering", "wine") for way in ways]
    assert all(row.listed for row in rows)


def test_codes_take_fewer_bytes_than_numbers(rows):
    stored = {row.memory: row.stored for row in rows if row.data == "pixels"}
    assert stored == {
        "floats": 256,
        "uint8": 66,
        "uint4": 40,
        "uint2": 24,
        "fitted, 4 bits": 32,
        "fitted, 2 bits": 16,
        "product": 16,
    }
    files = {row.memory: row.file for row in rows if row.data == "pixels"}
    assert files["floats"] - files["uint8"] > 100


def test_goals_say_what_was_lost(rows):
    assert codes.goals(rows)[0].met
    lost = [row._replace(listed=row.memory != "uint2") for row in rows]
    assert not codes.goals(lost)[0].met
    worse = [row._replace(consolidated=1.0 - (row.memory == "uint8")) for row in rows]
    assert not codes.goals(worse)[1].met


def test_an_original_that_is_lost_is_seen():
    class Model:
        misfits = (1,)

        def predict(self, rows):
            return rows[:, 0]

    labels = np.array([0, 1, 2])
    right, listed, lost = np.array([[0.0], [1.0], [2.0]]), [[0.0], [7.0], [2.0]], [[7.0], [1], [2]]
    assert codes.right_or_listed(Model(), right, labels)
    assert codes.right_or_listed(Model(), np.array(listed), labels)
    assert not codes.right_or_listed(Model(), np.array(lost), labels)
