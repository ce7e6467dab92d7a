"""Tables as they are on the command line: any kinds of columns, any kinds of files, bad rows."""

import csv
import gzip
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from minout import Learner, MinoutClassifier
from minout.cli import app as cli
from minout.tables import TableEncoder

pytestmark = pytest.mark.usefixtures("little_is_chosen")

HEAD = ["id", "age", "colour", "born", "member", "kind"]
COLOURS = ("red", "blue", "green")
NAMED = ("--label", "kind", "--id", "id")


def person(n: int) -> list[str]:
    """Gives a row: numbers, words, dates and truth values, some of them missing."""
    kind = "ab"[n % 2]
    return [
        f"p{n}",
        "NA" if n % 7 == 3 else str(20 + n % 5 + 10 * (n % 2)),
        "" if n % 5 == 4 else COLOURS[n % 3],
        f"19{60 + n % 2}-0{1 + n % 9}-11",
        "yes" if n % 2 else "no",
        kind,
    ]


@pytest.fixture
def people(write_csv):
    return write_csv("people.csv", [HEAD, *map(person, range(40))])


@pytest.fixture
def model(tmp_path, run, people):
    run("learn", tmp_path / "m", people, *NAMED)
    return tmp_path / "m"


def kept(folder) -> Learner:
    return Learner.open(folder, read_only=True)


def records(numbers):
    return [dict(zip(HEAD[1:-1], person(n)[1:-1], strict=True)) for n in numbers]


def test_the_numbers_of_a_text_are_a_block_of_the_model(tmp_path, run, write_csv, model):
    assert kept(model).settings.blocks == ()
    rows = [[n, f"{n % 3} words of number {n}", "ab"[n % 2]] for n in range(30)]
    file = write_csv("said.csv", [["x", "said", "kind"], *rows])
    run("learn", tmp_path / "t", file, "--label=kind", "--as", "said=text")
    assert kept(tmp_path / "t").settings.blocks == ((1, 513),)
    more = [[*row[:2], f"more words of {n}", row[-1]] for n, row in enumerate(rows)]
    file = write_csv("more.csv", [["x", "said", "more", "kind"], *more])
    run("learn", tmp_path / "t", file, "--label=kind", "--as", "more=text")
    learner = kept(tmp_path / "t")
    assert learner.settings.blocks == ((1, 513), (513, 1025))
    encoder = TableEncoder.restored(learner.notes["table"])
    assert encoder.blocks == [*learner.settings.blocks]


def test_a_table_is_taught_as_its_encoder_encodes_it(model):
    encoder = TableEncoder()
    rows = encoder.encode_many(records(range(40))).row
    learner = Learner(missing="mean")
    learner.teach_many(rows, [person(n)[-1] for n in range(40)], [f"p{n}" for n in range(40)])
    learner.consolidate()
    assert kept(model).notes["table"] == encoder.described()
    assert (kept(model).scores(rows) == learner.scores(rows)).all()


def test_each_column_is_said_in_a_line(tmp_path, people):
    result = CliRunner().invoke(cli.app, ["learn", str(tmp_path / "m"), str(people), *NAMED])
    assert result.stderr.splitlines() == [
        "Columns of numbers: age (1); label: kind; id: id.",
        "colour: category, 3 values (its first values are words).",
        "born: date (each of 40 values is a date).",
        "member: boolean (each of 40 values is a word for true or false).",
    ]


def test_a_category_gets_its_column_when_it_comes(model, run, run_json, write_csv):
    before = kept(model).width
    file = write_csv("more.csv", [HEAD, ["q", 30, "violet", "1960-01-01", "no", "a"]])
    assert run_json("learn", model, file)["taught"] == 1
    assert kept(model).width == before + 1
    assert "category, 4 values" in run_json("info", model)["taken_for"]["colour"]
    assert run_json("audit", model)["ok"]
    run("learn", model, "-", input='{"id": "r", "age": 3, "colour": "pink", "kind": "b"}\n')
    assert kept(model).width == before + 2


def test_a_model_that_met_a_category_late_equals_one_that_had_it_from_the_start(
    tmp_path, run, write_csv
):
    rows = [*map(person, range(30)), ["q", 30, "violet", "1960-01-01", "no", "a"]]
    run("learn", tmp_path / "late", write_csv("1.csv", [HEAD, *rows[:-1]]), *NAMED)
    run("learn", tmp_path / "late", write_csv("2.csv", [HEAD, rows[-1]]))
    run("learn", tmp_path / "all", write_csv("3.csv", [HEAD, *rows]), *NAMED)
    late, whole = kept(tmp_path / "late"), kept(tmp_path / "all")
    names = [TableEncoder.restored(each.notes["table"]).names for each in (late, whole)]
    order = [names[1].index(name) for name in names[0]]
    for each in late.ids:
        assert late.example(each)[0].tolist() == pytest.approx(
            whole.example(each)[0][order].tolist(), abs=0, nan_ok=True
        )
    rows = np.array([whole.example(each)[0] for each in whole.ids])
    assert late.scores(rows[:, order]) == pytest.approx(whole.scores(rows), abs=1e-9)


def test_predictions_take_missing_values_and_unknown_categories(model, run, write_csv):
    rows = [["", "violet", "", "no"], ["40", "red", "1961-02-03", "yes"]]
    file = write_csv("new.csv", [HEAD[1:-1], *rows])
    lines = list(csv.DictReader(run("predict", model, file).splitlines()))
    encoder = TableEncoder.restored(kept(model).notes["table"])
    known = [dict(zip(HEAD[1:-1], row, strict=True)) for row in rows]
    assert [line["label"] for line in lines] == kept(model).predict(
        encoder.encode_known_many(known)
    ).tolist()


def test_a_column_can_be_taken_for_something_else(tmp_path, run_json, refused, people):
    words = ("learn", tmp_path / "m", people, *NAMED, "--as", "age=category", "--ignore", "born")
    run_json(*words)
    taken = run_json("info", tmp_path / "m")["taken_for"]
    assert taken["age"].startswith("category")
    assert taken["born"] == "left out (you said so)"
    assert run_json("info", tmp_path / "m")["columns"] == ["age", "colour", "member"]
    again = ("learn", tmp_path / "m", people)
    assert run_json(*again, "--as", "age=category")["known"] == 40
    assert "The column 'age' was encoded as category in the rows so far" in refused(
        *again, "--as", "age=number"
    )
    assert "The column 'colour' was encoded as category in the rows so far" in refused(
        *again, "--ignore", "colour"
    )
    assert run_json(*again, "--as", "born=date")["known"] == 40


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--as", "age"], "--as must be COLUMN=KIND"),
        (["--as", "age=float"], "--as must be COLUMN=KIND"),
        (["--as", "size=number"], "has no column 'size'"),
        (["--as", "kind=number"], "The column 'kind' is the label"),
        (["--as", "age=number", "--ignore", "age"], "set two kinds of the column 'age'"),
        (["--as", "colour=date"], "line 2: The column 'colour' must be a date"),
        (["--as", "age=date", "--features", "random_fourier"], "--as is for tables"),
        (["--ignore", "size"], "has no column 'size'"),
    ],
)
def test_what_cannot_be_said_of_a_column_is_refused(tmp_path, refused, people, words, sentence):
    assert sentence in refused("learn", tmp_path / "m", people, *NAMED, *words)
    assert not (tmp_path / "m").exists()


def test_a_column_of_a_model_without_a_table_cannot_be_left_out_later(
    tmp_path, run, refused, write_csv
):
    file = write_csv("n.csv", [["a", "b", "kind"], [1, 2, "x"], [3, 4, "y"]])
    run("learn", tmp_path / "m", file, "--label", "kind", "--memory", "uint8")
    said = refused("learn", tmp_path / "m", file, "--ignore", "b")
    assert "'b' is one of the features that this model was taught with" in said


def test_a_file_without_a_usable_column_is_refused(tmp_path, refused, write_csv):
    rows = [[f"x{n}", "ab"[n % 2]] for n in range(30)]
    file = write_csv("ids.csv", [["code", "kind"], *rows])
    said = refused("learn", tmp_path / "m", file, "--label", "kind")
    assert "no column to learn from: code: left out (an identifier" in said
    assert not (tmp_path / "m").exists()


def test_a_file_that_lacks_a_column_is_refused(model, refused, write_csv):
    file = write_csv("less.csv", [["id", "age", "kind"], ["q", 3, "a"]])
    assert "lacks 3 columns that this model was taught with" in refused("learn", model, file)


def test_bad_rows_are_skipped_and_written_down(tmp_path, run, run_json, write_csv):
    rows = [*map(person, range(40))]
    rows[3], rows[7][-1], rows[9][3] = ["short"], "", "soon"
    file = write_csv("bad.csv", [HEAD, *rows[:20], HEAD, *rows[20:]])
    words = ("learn", tmp_path / "m", file, *NAMED, "--as", "born=date", "--skip-bad")
    told = run_json(*words, tmp_path / "why.csv")
    assert (told["taught"], told["skipped"]) == (37, 4)
    with (tmp_path / "why.csv").open(newline="") as opened:
        lines = list(csv.reader(opened))
    assert lines[0] == ["where", "reason", "row"]
    reasons = {line[0]: line[1] for line in lines[1:]}
    assert "there is 1 field, but the header has 6" in reasons["line 5"]
    assert "the label is empty" in reasons["line 9"]
    assert (
        "'born' must be a date (YYYY-MM-DD or DD.MM.YYYY), but here it is 'soon'"
        in reasons["line 11"]
    )
    assert "this is the header again" in reasons["line 22"]
    said = run("learn", tmp_path / "m", file, "--skip-bad", tmp_path / "why.csv")
    assert f"4 rows were skipped; {tmp_path / 'why.csv'} has each with the reason." in said
    told = run_json("score", tmp_path / "m", file, "--skip-bad", tmp_path / "why.csv")
    assert told["examples"] == 37
    predicted = run("predict", tmp_path / "m", file, "--skip-bad", tmp_path / "why.csv")
    assert len(predicted.splitlines()) == 39  # a row without a label can be predicted


def test_where_bad_rows_are_written_nothing_is_lost(tmp_path, refused, people):
    words = ("learn", tmp_path / "m", people, *NAMED, "--skip-bad")
    before = people.read_bytes()
    assert "would overwrite" in refused(*words, people)
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    assert "would overwrite" in refused(*words, tmp_path / "mine.csv")
    assert people.read_bytes() == before
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"
    assert not (tmp_path / "m").exists()


def test_a_file_of_bad_rows_only_is_refused(tmp_path, refused, write_csv):
    file = write_csv("bad.csv", [["a", "kind"], [1, ""], [2, ""]])
    said = refused("learn", tmp_path / "m", file, "--label=kind", "--skip-bad", tmp_path / "why")
    assert f"None of the 2 rows of {file} could be used; {tmp_path / 'why'} has the reasons" in said


def test_rows_without_ids_are_known_by_their_content(tmp_path, run, run_json, write_csv, exported):
    rows = [person(n)[1:] for n in range(30)]
    rows.append(rows[0])  # equal rows of one file are all taught
    file = write_csv("people.csv", [HEAD[1:], *rows])
    assert run_json("learn", tmp_path / "m", file, "--label=kind")["taught"] == 31
    run("correct", tmp_path / "m", 4, "b")
    before = exported(tmp_path / "m")
    told = run_json("learn", tmp_path / "m", file)
    assert (told["taught"], told["known"], told["corrected"]) == (0, 31, 1)
    assert exported(tmp_path / "m") == before
    grown = write_csv("grown.csv", [HEAD[1:], *rows, rows[0], person(33)[1:]])
    assert "31 were known already by their content (--allow-duplicates" in run(
        "learn", tmp_path / "m", grown
    )
    assert len(kept(tmp_path / "m")) == 33
    assert run_json("learn", tmp_path / "m", file, "--allow-duplicates")["taught"] == 31


def test_rows_of_a_feature_map_are_known_by_their_content(tmp_path, run_json, write_csv):
    rows = [[f"word {n}", "ab"[n % 2]] for n in range(6)]
    file = write_csv("text.csv", [["text", "kind"], *rows])
    words = ("learn", tmp_path / "m", file, "--label=kind", "--features=text")
    assert (run_json(*words)["taught"], run_json(*words)["known"]) == (6, 6)


@pytest.mark.parametrize(("first", "second"), [("1", "1.0"), ("1.0", "1"), ("2.00", "2")])
def test_labels_that_are_the_same_number_are_one(tmp_path, run_json, write_csv, first, second):
    file = write_csv("l.csv", [["a", "kind"], [1, first], [2, "x"], [3, second]])
    told = run_json("learn", tmp_path / "m", file, "--label=kind")
    assert (told["taught"], told["classes"]) == (3, 2)
    assert set(run_json("info", tmp_path / "m")["classes"]) == {first, "x"}
    assert run_json("score", tmp_path / "m", file)["examples"] == 3


def test_every_kind_of_file_gives_the_same_model(tmp_path, run, write_csv, people):
    import pyarrow
    from pyarrow import parquet

    rows = [person(n) for n in range(40)]
    objects = [dict(zip(HEAD, row, strict=True)) for row in rows]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, objects)))
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(people.read_bytes()))
    commas = [HEAD, *([row[0], row[1].replace("NA", ""), *row[2:]] for row in rows)]
    with (tmp_path / "p.tsv").open("w", newline="") as file:
        csv.writer(file, delimiter="\t").writerows(commas)
    columns = {name: [row[n] for row in rows] for n, name in enumerate(HEAD)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "p.parquet")
    models = []
    for name in ("people.csv", "p.jsonl", "p.csv.gz", "p.tsv", "p.parquet"):
        run("learn", tmp_path / f"m-{name}", tmp_path / name, *NAMED)
        learner = kept(tmp_path / f"m-{name}")
        matrix = np.array([learner.example(each)[0] for each in learner.ids])
        models.append((learner.notes["table"]["slots"], learner.scores(matrix).tolist()))
    assert all(each == models[0] for each in models)


def test_numbers_may_have_a_decimal_comma(tmp_path, write_csv):
    (tmp_path / "d.csv").write_text("a;b;kind\n3,5;1.234,5;x\n4;NA;y\n-1,25;7;x\n")
    result = CliRunner().invoke(
        cli.app, ["learn", str(tmp_path / "m"), str(tmp_path / "d.csv"), "--label=kind"]
    )
    assert result.exit_code == 0, result.exception
    assert "Numbers have a decimal comma." in result.stderr
    rows = [kept(tmp_path / "m").example(n)[0].tolist() for n in range(3)]
    assert rows[0] == [3.5, 1234.5]
    assert rows[1][0] == 4.0
    assert np.isnan(rows[1][1])
    assert rows[2] == [-1.25, 7.0]


def test_nested_fields_and_fields_that_come_later_are_learned(tmp_path, run, run_json):
    lines = [{"pos": {"x": n, "at": [n, -n]}, "kind": "ab"[n % 2]} for n in range(6)]
    lines += [{"pos": {"x": n, "at": [n, -n]}, "late": n, "kind": "ab"[n % 2]} for n in range(6, 9)]
    (tmp_path / "n.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run("learn", tmp_path / "m", tmp_path / "n.jsonl", "--label=kind")
    columns = run_json("info", tmp_path / "m")["columns"]
    assert columns == ["pos.x", "pos.at[0]", "pos.at[1]", "late"]
    more = '{"pos": {"x": 1}, "new": {"field": "red"}, "kind": "a"}\n'
    result = CliRunner().invoke(cli.app, ["learn", str(tmp_path / "m"), "-"], input=more)
    assert result.exit_code == 0, result.exception
    assert "New column new.field: category (its first values are words)." in result.stderr
    assert run_json("info", tmp_path / "m")["columns"][-1] == "new.field"


def test_a_classifier_opens_what_the_command_line_learned(model, people):
    import pandas

    frame = pandas.read_csv(people, keep_default_na=False).astype(str)
    learner = kept(model)
    classifier = MinoutClassifier(store=str(model))
    told = classifier.predict(frame[HEAD[1:-1]]).tolist()
    encoder = TableEncoder.restored(learner.notes["table"])
    rows = encoder.encode_known_many(records(range(40)))
    assert told == learner.predict(rows).tolist()


def test_the_command_line_teaches_what_a_classifier_learned(tmp_path, run_json, people):
    import pandas

    frame = pandas.DataFrame(records(range(40)))
    folder = tmp_path / "c"
    labels = [person(n)[-1] for n in range(40)]
    MinoutClassifier(store=str(folder)).fit(frame, labels, ids=[f"p{n}" for n in range(40)])
    told = run_json("learn", folder, people, *NAMED)
    assert (told["taught"], told["known"]) == (0, 40)


def test_an_explanation_adds_up_over_the_columns_of_the_file(model, run_json, people, tmp_path):
    told = run_json("explain", model, people, "--row", 4, "--picture", tmp_path / "why.png")
    columns = {each["column"]: each for each in told["columns"]}
    assert set(columns) == set(HEAD[1:-1])
    assert columns["age"]["value"] is None
    assert (columns["born"]["value"], columns["member"]["value"]) == ("1961-04-11", True)
    parts = sum(each["contribution"] for each in told["columns"])
    assert told["at_mean"] + parts == pytest.approx(told["margin"], rel=1e-9)
    assert (tmp_path / "why.png").stat().st_size > 0
    stored = run_json("explain", model, "--id", "p3")
    assert stored["columns"] == told["columns"]


def test_bad_rows_before_the_one_to_explain_do_not_matter(model, run_json, refused, write_csv):
    file = write_csv("bad.csv", [HEAD, ["short"], person(50), person(51)])
    assert run_json("explain", model, file, "--id", "p51")["where"] == "line 4"
    assert run_json("explain", model, file, "--line", 3)["id"] == "p50"
    assert "line 2" in refused("explain", model, file, "--row", 1)
    assert "has no" in refused("explain", model, file, "--line", 2)


def test_an_object_without_a_column_is_refused(model, run_json):
    told = run_json(
        "learn", model, "-", input='{"id": "zz", "kind": "a"}\n{"age": 3, "kind": "a", "id": "y"}\n'
    )
    assert (told["taught"], told["skipped"]) == (1, 1)


def test_an_example_of_a_table_can_be_updated(model, run_json, refused, exported):
    before = exported(model)
    row = {"age": None, "colour": "violet", "born": "1990-01-01", "member": True}
    for bad, sentence in [
        ({**row, "born": "soon"}, "must be a date"),
        ({**row, "size": 3}, "this model has no column 'size'"),
    ]:
        assert sentence in refused("update", model, "p3", json.dumps(bad))
        assert exported(model) == before
    assert run_json("update", model, "p3", json.dumps(row))["changed"] is True
    learner = kept(model)
    encoder = TableEncoder.restored(learner.notes["table"])
    assert encoder.decode(learner.example("p3")[0]) == row
    assert run_json("update", model, "p3", '{"colour": "gold"}')["changed"] is True
    learner = kept(model)
    encoder = TableEncoder.restored(learner.notes["table"])
    assert encoder.decode(learner.example("p3")[0]) == {**row, "colour": "gold"}
    assert run_json("audit", model)["ok"]


def test_another_process_may_add_a_category_meanwhile(model, monkeypatch, run_json):
    from minout.cli import learn as learn_command

    real = learn_command.open_reader

    def slow(learner, options):
        reader = real(learner, options)
        rows = reader.rows

        def between():
            for n, example in enumerate(rows):
                if n == 1:
                    other = {"id": "z", "age": 1, "colour": "gold", "kind": "a"}
                    CliRunner().invoke(
                        cli.app, ["learn", str(model), "-"], input=json.dumps(other) + "\n"
                    )
                yield example

        object.__setattr__(reader, "rows", between())
        return reader

    monkeypatch.setattr(learn_command, "open_reader", slow)
    lines = [
        {"id": f"q{n}", "age": n, "colour": colour, "kind": "b"}
        for n, colour in enumerate(["pink", "grey", "gold"])
    ]
    told = run_json("learn", model, "-", input="\n".join(map(json.dumps, lines)))
    assert told["taught"] == 3
    learner = kept(model)
    encoder = TableEncoder.restored(learner.notes["table"])
    for each, colour in (("q0", "pink"), ("q1", "grey"), ("q2", "gold"), ("z", "gold")):
        assert encoder.decode(learner.example(each)[0])["colour"] == colour
