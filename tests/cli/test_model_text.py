"""Models of text, and models whose rows a function of the user makes."""

import csv
import json
import sys

import pytest

from minout import HashedText, Learner
from minout.errors import InvalidInputError

MAILS = [
    *((f"meeting at {hour}, agenda\nattached", "work") for hour in range(6)),
    *((f"cheap pills, save {amount}$ now", "spam") for amount in range(6)),
]
NEW = [("agenda of the meeting", "work"), ("save now: cheap", "spam"), ("", "spam")]
FUNCTION = """
def encode(batch):
    return [[len(each), each.count(" "), each.count("$")] for each in batch]

def halve(batch):
    return batch / 2

number = 7
"""


def write_csv(path, mails, columns=("mail", "kind")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *mails])
    return path


def write_jsonl(path, mails):
    lines = [json.dumps({"kind": kind, "mail": mail}) for mail, kind in mails]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write_parquet(path, mails):
    import pyarrow
    from pyarrow import parquet

    texts, kinds = zip(*mails, strict=True)
    parquet.write_table(pyarrow.table({"mail": texts, "kind": kinds}), path)
    return path


FILES = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module of functions to the current folder, and forgets it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "own_functions.py"
    path.write_text(FUNCTION)
    yield path
    sys.modules.pop("own_functions", None)


@pytest.mark.parametrize("kind", FILES)
def test_one_column_of_text_is_taught_as_in_python(tmp_path, run, run_json, kind):
    file = FILES[kind](tmp_path / f"mails.{kind}", MAILS)
    told = run_json("learn", tmp_path / "m", file, "--label", "kind", "--features", "text")
    assert told["taught"] == 12
    learner = Learner(features="text")
    learner.teach_many(*map(list, zip(*MAILS, strict=True)))
    learner.consolidate()
    texts = [mail for mail, _ in NEW]
    with Learner.open(tmp_path / "m", read_only=True) as kept:
        assert kept.features == HashedText()
        assert kept.scores(texts).tobytes() == learner.scores(texts).tobytes()
    new = FILES[kind](tmp_path / f"new.{kind}", NEW)
    lines = run("predict", tmp_path / "m", new, "--json").splitlines()
    assert [json.loads(line)["label"] for line in lines] == learner.predict(texts).tolist()
    assert run_json("score", tmp_path / "m", new)["examples"] == 3
    assert len(run("what_if", tmp_path / "m", new, "--json").splitlines()) == 3
    assert run_json("explain", tmp_path / "m", new, "--row", 1)["label"] == "work"
    more = run_json("learn", tmp_path / "m", new)  # the map and the columns are remembered
    assert more["examples"] == 15


def test_texts_on_standard_input_are_answered_one_by_one(tmp_path, run):
    run(
        "learn",
        tmp_path / "m",
        write_csv(tmp_path / "a.csv", MAILS),
        "--label=kind",
        "--features=text",
    )
    told = run("predict", tmp_path / "m", "-", "--json", input='{"mail": "cheap"}\n{"mail": ""}\n')
    assert json.loads(told.splitlines()[0])["label"] == "spam"
    assert len(told.splitlines()) == 2


def test_files_without_one_column_of_text_are_refused(tmp_path, refused):
    learn = ("learn", tmp_path / "m")
    with_text = ("--label", "kind", "--features", "text")
    two = write_csv(tmp_path / "two.csv", [("a", "b", "work")], ("mail", "from", "kind"))
    assert "Text is read from one column, but" in refused(*learn, two, *with_text)
    number = tmp_path / "number.jsonl"
    number.write_text('{"mail": "a", "kind": "work"}\n{"mail": 7, "kind": "work"}\n')
    assert "line 2: column 'mail' holds 7, which is not text;" in refused(
        *learn, number, *with_text
    )
    number.write_text('{"mail": null, "kind": "work"}\n')
    assert "line 1: column 'mail' is missing" in refused(*learn, number, *with_text)
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"mail,kind\n\xe9t\xe9,work\n")
    assert "line 2: column 'mail' is not UTF-8" in refused(*learn, latin, *with_text)
    assert "has no text" in refused(*learn, tmp_path, *with_text)
    mails = write_csv(tmp_path / "mails.csv", MAILS)
    numbers = ("--label", "kind", "--features", "random_fourier")
    assert "which is not a number" in refused("learn", tmp_path / "n", mails, *numbers)


def test_a_function_makes_the_rows_and_is_named_again(tmp_path, module, run, run_json, refused):
    mails, new = write_csv(tmp_path / "a.csv", MAILS), write_csv(tmp_path / "new.csv", NEW)
    own = ("--features", "own_functions:encode")
    run("learn", tmp_path / "m", mails, "--label", "kind", *own)
    assert run_json("score", tmp_path / "m", new, *own)["examples"] == 3
    assert run_json("explain", tmp_path / "m", new, "--row", 1, *own)["margin"]
    assert run_json("learn", tmp_path / "m", new, *own)["examples"] == 15
    for command in (("predict", new), ("score", new), ("learn", new), ("explain", new, "--row", 1)):
        told = refused(command[0], tmp_path / "m", *command[1:])
        assert "was taught with encoder:own_functions.encode-1-" in told
        assert "name the function with --features" in told


def test_commands_that_map_no_rows_need_no_function_and_import_none(
    tmp_path, module, run, run_json, monkeypatch
):
    mails = write_csv(tmp_path / "a.csv", MAILS)
    run("learn", tmp_path / "m", mails, "--label=kind", "--features=own_functions:encode")
    module.write_text("raise SystemExit('imported')")
    sys.modules.pop("own_functions")
    assert run_json("info", tmp_path / "m")["examples"] == 12
    run("correct", tmp_path / "m", "3", "spam")
    run("forget", tmp_path / "m", "4")
    run("suspects", tmp_path / "m")
    run("audit", tmp_path / "m")
    run("compact", tmp_path / "m")
    run("export", tmp_path / "m", tmp_path / "file.minout")
    run("import", tmp_path / "file.minout", tmp_path / "again")
    assert run_json("info", tmp_path / "again")["examples"] == 11
    assert "own_functions" not in sys.modules


def test_a_function_of_several_columns_gets_numbers(tmp_path, module, run, run_json):
    rows = [(i, i % 2, "even" if i % 2 == 0 else "odd") for i in range(10)]
    file = write_csv(tmp_path / "n.csv", rows, ("a", "b", "kind"))
    own = ("--features", "own_functions:halve")
    run("learn", tmp_path / "m", file, "--label", "kind", *own)
    with Learner.open(
        tmp_path / "m", read_only=True, features=sys.modules["own_functions"].halve
    ) as m:
        assert m.example(m.ids[3])[0].tolist() == [1.5, 0.5]
    assert run_json("score", tmp_path / "m", file, *own)["right"] == 10


def test_functions_that_cannot_be_used_are_refused_in_a_sentence(tmp_path, module, run, refused):
    mails = write_csv(tmp_path / "a.csv", MAILS)

    def learn(name):
        return refused("learn", tmp_path / "m", mails, "--label", "kind", "--features", name)

    assert "could not be imported: No module named 'nowhere'" in learn("nowhere:encode")
    assert "has no attribute 'other'" in learn("own_functions:other")
    assert "is not a function from a batch to rows, but int" in learn("own_functions:number")
    assert "could not be imported" in learn(":encode")
    assert 'pass "identity"' in learn("own_functions")
    (tmp_path / "broken_functions.py").write_text("1 / 0")
    assert "could not be imported: division by zero" in learn("broken_functions:encode")
    assert not (tmp_path / "m").exists()
    run("learn", tmp_path / "m", mails, "--label=kind", "--features=own_functions:encode")
    module.write_text(FUNCTION.replace('"$"', '"!"'))
    sys.modules.pop("own_functions")
    told = refused("predict", tmp_path / "m", mails, "--features", "own_functions:encode")
    assert "a model knows the rows of one map only" in told


def test_a_learner_that_knows_no_map_says_so_when_it_needs_one(tmp_path, module, run):
    mails = write_csv(tmp_path / "a.csv", MAILS)
    run("learn", tmp_path / "m", mails, "--label=kind", "--features=own_functions:encode")
    with pytest.raises(InvalidInputError, match="which is not saved; pass it as `features`"):
        Learner.open(tmp_path / "m", read_only=True)
