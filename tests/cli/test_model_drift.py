"""`minout learn` on data that change: the share before teaching, the sentence, and the window."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from minout import DriftMonitor, Learner
from minout.cli import app as cli

pytestmark = pytest.mark.usefixtures("little_is_chosen")

HEADER = ["a", "b", "kind", "name"]
ROWS, FLIP = 700, 500


@pytest.fixture(scope="module")
def flipped():
    """Rows of two labels that change places after 500 rows."""
    rng = np.random.default_rng(0)
    number = rng.integers(2, size=ROWS)
    points = rng.normal(size=(ROWS, 2)) + 4.0 * number[:, None]
    kinds = np.where(np.arange(ROWS) < FLIP, number, 1 - number)
    return [[*x, f"k{y}", f"r{i}"] for i, (x, y) in enumerate(zip(points, kinds, strict=True))]


def learn(*words):
    """Run `minout learn` with JSON; return its object and what it says on standard error."""
    result = CliRunner().invoke(cli.app, ["learn", *map(str, words), "--json", "--no-consolidate"])
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout), result.stderr


NAMED = ("--label", "kind", "--id", "name")
SENTENCE = "were predicted correctly before being taught; with the earlier share"


def in_python(rows):
    learner, monitor, drifts = Learner(), DriftMonitor(), []
    for a, b, kind, name in rows:
        drift = monitor.update(kind, learner.teach([a, b], kind, id=name).was_right)
        drifts += [drift._asdict()] if drift else []
    return monitor, drifts


def test_a_fall_of_the_share_is_said_once_when_it_happens(tmp_path, write_csv, flipped):
    told, said = learn(tmp_path / "m", write_csv("f.csv", [HEADER, *flipped]), *NAMED)
    monitor, drifts = in_python(flipped)
    assert told["right_before_taught"] == monitor.share
    assert told["drifts"] == drifts
    assert len(drifts) == 1
    assert said.count(SENTENCE) == 1
    for word in ("--keep", "minout forget", "minout suspects", drifts[0]["label"]):
        assert word in said


def test_without_a_fall_nothing_is_said(tmp_path, run, write_csv, flipped):
    file = write_csv("f.csv", [HEADER, *flipped[:FLIP]])
    told, said = learn(tmp_path / "m", file, *NAMED)
    assert told["drifts"] == []
    assert SENTENCE not in said
    share = f"{told['right_before_taught']:.1%}"
    printed = run("learn", tmp_path / "n", file, *NAMED)
    assert f" Of the last 498 examples, {share} were predicted correctly before" in printed


@pytest.mark.parametrize("cut", [300, FLIP + 10])
def test_the_next_run_continues_the_count(tmp_path, write_csv, flipped, cut):
    whole, _ = learn(tmp_path / "whole", write_csv("f.csv", [HEADER, *flipped]), *NAMED)
    first, _ = learn(tmp_path / "m", write_csv("1.csv", [HEADER, *flipped[:cut]]), *NAMED)
    second, _ = learn(tmp_path / "m", write_csv("2.csv", [HEADER, *flipped[cut:]]))
    assert first["drifts"] == []
    for name in ("drifts", "right_before_taught", "examples"):
        assert second[name] == whole[name]


def test_known_rows_are_not_counted_again(tmp_path, write_csv, flipped, on_disk):
    file = write_csv("f.csv", [HEADER, *flipped])
    first, _ = learn(tmp_path / "m", file, *NAMED)
    before = on_disk(tmp_path / "m")
    again, said = learn(tmp_path / "m", file)
    assert again["right_before_taught"] == first["right_before_taught"]
    assert SENTENCE not in said
    assert on_disk(tmp_path / "m") == before


def test_a_note_that_is_no_monitor_is_refused(tmp_path, refused, wines, wine):
    with Learner.open(wines) as learner:
        learner.notes["drift"] = {"labels": 3}
    assert refused("learn", wines, wine).startswith("The model's note 'drift' was not written by")


@pytest.mark.parametrize(
    ("text", "keep", "words", "left"),
    [
        ("100", 100, "100 examples", 100),
        ("per-label:30", {"per_label": 30}, "30 examples per label", 60),
        ("30d", "30d", "30d", 200),
        ("all", "all", "all", 200),
    ],
    ids=["number", "per-label", "time", "all"],
)
def test_a_new_model_keeps_the_newest(
    tmp_path, run, run_json, write_csv, flipped, text, keep, words, left
):
    file = write_csv("f.csv", [HEADER, *flipped[:200]])
    told, _ = learn(tmp_path / "m", file, *NAMED, "--keep", text)
    assert (told["taught"], told["examples"], told["forgotten"]) == (200, left, 200 - left)
    learner = Learner.open(tmp_path / "m", read_only=True)
    if isinstance(keep, int):
        assert learner.ids == [row[3] for row in flipped[200 - left : 200]]
    assert run_json("info", tmp_path / "m")["keep"] == keep
    assert re.search(rf"^window: +{words}$", run("info", tmp_path / "m"), flags=re.M)


def test_the_summary_says_how_many_fell_out(tmp_path, run, write_csv, flipped):
    file = write_csv("f.csv", [HEADER, *flipped[:200]])
    assert " 80 examples fell out of the window." in run(
        "learn", tmp_path / "m", file, *NAMED, "--keep", "120"
    )
    assert "fell out" not in run("learn", tmp_path / "n", file, *NAMED)


def test_another_window_takes_effect_at_once_and_stays(tmp_path, run_json, write_csv, flipped):
    first, second = (
        write_csv(f"{name}.csv", [HEADER, *rows])
        for name, rows in (("1", flipped[:200]), ("2", flipped[199:250]))
    )
    learn(tmp_path / "m", first, *NAMED)
    known = write_csv("known.csv", [HEADER, flipped[199]])
    told, said = learn(tmp_path / "m", known, "--keep", "150")
    assert "The window is now 150 examples; 50 examples forgotten." in said
    assert (told["taught"], told["forgotten"], told["examples"]) == (0, 50, 150)
    assert run_json("info", tmp_path / "m")["examples"] == 150
    told, said = learn(tmp_path / "m", second)
    assert (told["taught"], told["forgotten"], told["examples"]) == (50, 50, 150)
    told, said = learn(tmp_path / "m", second, "--keep", "150")
    assert (told["forgotten"], said) == (0, "")
    told, said = learn(tmp_path / "m", known, "--keep", "all")
    assert "The window is now all; 0 examples forgotten." in said
    assert run_json("info", tmp_path / "m")["keep"] == "all"


@pytest.mark.parametrize("text", ["0", "-3", "some", "per-label:0", "per-label:x", "3y", "1.5", ""])
def test_what_is_no_window_is_refused(tmp_path, refused, wine, text):
    assert refused("learn", tmp_path / "m", wine, *NAMED, f"--keep={text}") == (
        "--keep must be all, a whole number from 1, per-label:N or a time such as 30d or 12h, "
        f"not {text!r}."
    )
    assert not (tmp_path / "m").exists()


def test_a_window_leaves_no_folder_if_the_first_row_is_bad(tmp_path, refused, write_csv):
    file = write_csv("bad.csv", [["a", "kind"], ["red", ""]])
    refused("learn", tmp_path / "m", file, "--label", "kind", "--keep", "5")
    assert not (tmp_path / "m").exists()


def test_a_window_and_a_feature_map_go_together(tmp_path, write_csv, flipped):
    file = write_csv("f.csv", [HEADER, *flipped[:50]])
    told, _ = learn(tmp_path / "m", file, *NAMED, "--keep", "20", "--features", "random_fourier")
    assert told["examples"] == 20


def five_kept(tmp_path, write_csv, flipped):
    """A model with a window of 5 examples, and a file with 3 more rows."""
    learn(tmp_path / "m", write_csv("1.csv", [HEADER, *flipped[:8]]), *NAMED, "--keep", "5")
    return tmp_path / "m", write_csv("2.csv", [HEADER, *flipped[8:11]])


@pytest.mark.parametrize("text", ["all", "8", "per-label:20", "per_label:20"])
def test_a_wider_window_loses_no_stored_example(tmp_path, write_csv, flipped, text):
    model, more = five_kept(tmp_path, write_csv, flipped)
    told, said = learn(model, more, "--keep", text)
    assert (told["examples"], told["forgotten"]) == (8, 0)
    assert "0 examples forgotten." in said
    assert Learner.open(model, read_only=True).ids == [row[3] for row in flipped[3:11]]


def test_a_longer_time_loses_no_stored_example(tmp_path, write_csv, flipped):
    learn(tmp_path / "m", write_csv("1.csv", [HEADER, *flipped[:3]]), *NAMED, "--keep", "1h")
    with Learner.open(tmp_path / "m") as learner:
        kept = learner.ids
    told, _ = learn(tmp_path / "m", write_csv("2.csv", [HEADER, flipped[3]]), "--keep", "2h")
    assert (told["examples"], kept) == (4, ["r0", "r1", "r2"])


def test_a_first_row_that_is_refused_leaves_the_window(tmp_path, write_csv, flipped, refused):
    model, _ = five_kept(tmp_path, write_csv, flipped)
    other = write_csv("bad.csv", [HEADER, [1.0, 2.0, "fox", "r7"]])  # stored with another label
    refused("learn", model, other, "--keep", "all")
    with Learner.open(model, read_only=True) as learner:
        assert (learner.settings.keep, len(learner)) == (5, 5)


def test_info_shows_the_share_and_the_last_drift(tmp_path, run, run_json, write_csv, flipped):
    file = write_csv("f.csv", [HEADER, *flipped])
    told, said = learn(tmp_path / "m", file, *NAMED)
    shown = run_json("info", tmp_path / "m")
    assert shown["right_before_taught"] == told["right_before_taught"]
    last = shown["last_drift"]
    where, seconds = last.pop("where"), last.pop("time")
    assert last == told["drifts"][-1]
    assert re.fullmatch(rf"{re.escape(str(file))}, line \d+", where)
    assert f"{where}: of the last" in said
    assert seconds > 1.7e9
    text = run("info", tmp_path / "m")
    assert f"prequential:  {told['right_before_taught']:.1%} of the last 698 examples" in text
    assert re.search(rf"^last drift: +\d{{4}}-.*, at {re.escape(where)}: ", text, flags=re.M)
    again, _ = learn(tmp_path / "m", write_csv("g.csv", [HEADER, [1.0, 2.0, "k1", "new"]]))
    assert again["taught"] == 1
    assert run_json("info", tmp_path / "m")["last_drift"]["where"] == where


def test_a_note_without_a_last_drift_is_read(tmp_path, run, run_json, wines, wine_rows, write_csv):
    with Learner.open(wines) as learner:
        learner.notes["drift"] = DriftMonitor().to_json()
    assert run_json("info", wines)["last_drift"] is None
    assert "last drift" not in run("info", wines)
    assert re.search("^prequential: +none$", run("info", wines), flags=re.M)
    run("learn", wines, write_csv("one.csv", [wine_rows[0], [*wine_rows[1][:14], "new"]]))


@pytest.mark.parametrize("last", [3, {"label": "a"}, {"before": 1, "now": 0, "rows": 3}])
def test_a_last_drift_that_is_none_is_refused(refused, run_json, wines, wine, last):
    with Learner.open(wines) as learner:
        learner.notes["drift"] = {**learner.notes["drift"], "last_drift": last}
    assert refused("learn", wines, wine).startswith("The model's note 'drift' was not written by")
    assert run_json("info", wines)["last_drift"] is None


def test_the_summary_says_how_many_are_not_counted(tmp_path, run, write_csv, flipped):
    first, more = (
        write_csv(f"{name}.csv", [HEADER, *rows])
        for name, rows in (("1", flipped[:50]), ("2", flipped[50:60]))
    )
    said = run("learn", tmp_path / "m", first, *NAMED)
    assert "before being taught (2 examples whose label was new are not counted)." in said
    assert "not counted" not in run("learn", tmp_path / "m", more)
