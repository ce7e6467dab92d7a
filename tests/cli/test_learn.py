"""`minout learn`: what is taught, what is known, what is refused, and what is said."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minout import Learner
from tests.cli.conftest import PEOPLE, features, objects, write_images

NAMED = ("--label", "kind", "--id", "key")


def test_a_file_is_taught_as_in_python_to_the_last_bit(tmp_path, wines, wine_rows, saved):
    with Learner.open(tmp_path / "m") as learner:
        learner.set_source(label="kind", id="bottle")
        records = [{k: str(v) for k, v in row.items()} for row in objects(wine_rows)]
        labels, ids = ([row.pop(name) for row in records] for name in ("kind", "bottle"))
        learner.teach_many(records, labels, ids)
        learner.consolidate()
        mine = Learner.open(wines, read_only=True)
        assert mine.ids == learner.ids
        assert (mine.scores(records) == learner.scores(records)).all()


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet", "csv.gz", "tsv"])
def test_every_kind_of_file_gives_the_same_model(tmp_path, run, run_json, table, saved, kind):
    records, file = objects(PEOPLE), tmp_path / f"data.{kind}"
    if kind == "json":
        file.write_text(json.dumps(records))
    elif kind == "jsonl":
        file.write_text("\n".join(map(json.dumps, records)))
    elif kind == "parquet":
        ages = [None if row["age"] == "" else row["age"] for row in records]
        pq.write_table(
            pa.Table.from_pylist([{**r, "age": a} for r, a in zip(records, ages, strict=True)]),
            file,
        )
    else:
        lines = "\n".join("\t".join(map(str, row)) for row in PEOPLE)
        file.write_bytes(gzip.compress(lines.encode()) if "gz" in kind else lines.encode())
    assert run_json("learn", table, file)["known"] == 60
    run("learn", tmp_path / "m", file, *NAMED)
    first, second = (Learner.open(each, read_only=True) for each in (table, tmp_path / "m"))
    rows = features(PEOPLE)
    assert np.array_equal(first.scores(rows), second.scores(rows))


def test_the_kinds_of_columns_are_said_once_with_the_reason(tmp_path, said, people):
    notes = said("learn", tmp_path / "m", people, *NAMED)
    assert "Columns of numbers (1): age; label: kind; id: key." in notes
    for each in ("city: category", "since: date", "vip: boolean", "about: text"):
        assert f"\n{each}" in notes
    assert "(its first values are words)" in notes
    assert "category" not in said("learn", tmp_path / "m", people)


def test_words_among_numbers_and_unclear_dates_are_said(tmp_path, said, write_csv):
    rows = [[10 * n, f"{n % 9 + 1}/5/2021", f"k{n}", n % 2] for n in range(30)]
    header = ["size", "when", "key", "kind"]
    words = ("learn", tmp_path / "m", write_csv("a.csv", [header, *rows]), *NAMED)
    notes = said(*words, "--as", "size=number")
    assert "Columns of numbers (1): size;" in notes
    assert 'when: category, 9 values (day or month may be first; set its kind to "day-f' in notes
    more = write_csv("b.csv", [header, ["unknown", "5/5/2021", "x", 1]])
    notes = said("learn", tmp_path / "m", more)
    assert "Column size: number, and 1 word as a category, such as 'unknown'" in notes
    notes = said(*["learn", tmp_path / "n", *words[2:]], "--as", "when=day-first")
    assert "when: date, day first (you said so)" in notes
    assert "size: number (each of 30 values is a number; all differ, so if it is an id" in notes


def test_a_kind_that_is_set_is_used_and_one_that_cannot_be_is_refused(
    tmp_path, run_json, said, refused, people
):
    words = ("learn", tmp_path / "m", people, *NAMED)
    notes = said(*words, "--as", "age=category", "--as", "about=ignore")
    assert "age: category" in notes
    assert "about: left out (you said so)" in notes
    assert "--as must be COLUMN=KIND" in refused(*words, "--as", "age")
    assert "--as must be COLUMN=KIND" in refused(*words, "--as", "age=text", "--as", "age=date")
    assert "'age'" in refused(*words, "--as", "age=text")


def test_sending_twice_changes_nothing(run_json, table, people, saved):
    before = saved(table)
    told = run_json("learn", table, people)
    assert (told["taught"], told["known"], told["examples"]) == (0, 60, 60)
    assert saved(table) == before


def test_commands_that_make_a_model_at_once_both_teach_it(tmp_path, monkeypatch, run, write_csv):
    first, second = (write_csv(f"{n}.csv", [PEOPLE[0], *PEOPLE[1 + n :: 2]]) for n in (0, 1))
    store_in = Learner.store_in

    def late(learner, file, **options):
        monkeypatch.setattr(Learner, "store_in", store_in)
        run("learn", tmp_path / "m", second, *NAMED)
        store_in(learner, file, **options)

    monkeypatch.setattr(Learner, "store_in", late)
    run("learn", tmp_path / "m", first, *NAMED)
    assert sorted(Learner.load(tmp_path / "m").ids) == sorted(row[-1] for row in PEOPLE[1:])


def test_an_id_that_comes_twice_in_a_file_is_known_the_second_time(tmp_path, run_json, write_csv):
    rows = [["a", "kind", "key"], [1, "x", "p"], [2, "y", "q"], [1, "x", "p"], [3, "x", "r"]]
    told = run_json("learn", tmp_path / "m", write_csv("d.csv", rows), *NAMED)
    assert (told["taught"], told["known"]) == (3, 1)


def test_rows_without_ids_are_known_by_their_content(tmp_path, run_json, write_csv, saved):
    rows = [["a", "b", "kind"], *([i % 10, "uv"[i % 2], "xy"[i % 3 == 0]] for i in range(30))]
    model, file = tmp_path / "m", write_csv("d.csv", rows)
    first = run_json("learn", model, file, "--label", "kind")
    assert first["taught"] == 30  # equal rows within one file are all taught
    before = saved(model)
    assert run_json("learn", model, file)["known"] == 30
    assert saved(model) == before
    rows += [[77, "u", "x"], [5, "NEW", "y"]]
    told = run_json("learn", model, write_csv("d.csv", rows))
    assert (told["taught"], told["known"]) == (2, 30)


@pytest.mark.parametrize("piece", [1, 256])
def test_a_stored_row_stands_for_one_equal_row_of_a_file(
    tmp_path, run_json, write_csv, monkeypatch, piece
):
    monkeypatch.setattr("minout.cli.rows.PIECE", piece)
    rows = [["a", "kind"], [1, "x"], [2, "y"]]
    run_json("learn", tmp_path / "m", write_csv("d.csv", rows), "--label", "kind")
    told = run_json("learn", tmp_path / "m", write_csv("e.csv", [*rows, [1, "x"]]))
    assert (told["known"], told["taught"]) == (2, 1)


def test_a_bad_row_beside_known_ones_does_not_teach_them_again(tmp_path, run_json, write_csv):
    rows = [["a", "b", "kind"], *([i, "uv"[i % 2], "xy"[i % 3 == 0]] for i in range(20))]
    model = tmp_path / "m"
    run_json("learn", model, write_csv("d.csv", rows), "--label", "kind")
    rows.insert(11, ["1e400", "u", "x"])
    told = run_json("learn", model, write_csv("e.csv", rows), "--skip-bad", tmp_path / "bad.csv")
    assert (told["taught"], told["known"], told["skipped"], told["examples"]) == (0, 20, 1, 20)


def test_a_stored_id_with_other_values_before_a_row_without_a_label_is_skipped_too(
    wines, run_json, write_csv, wine_rows, tmp_path
):
    header, *rows = wine_rows
    rows[2][0], rows[5][-2] = 99.0, ""
    file, skipped = write_csv("e.csv", [header, *rows]), tmp_path / "bad.csv"
    told = run_json("learn", wines, file, "--skip-bad", skipped)
    assert (told["known"], told["skipped"]) == (176, 2)
    reasons = skipped.read_text().splitlines()[1:]
    assert [each.split(",")[0] for each in reasons] == ["line 4", "line 7"]


def test_different_rows_that_share_hashes_are_all_taught(tmp_path, run_json, said, write_csv):
    def cities(name):
        return [["city", "kind"], *([f"{name}{i}", "ab"[i % 2]] for i in range(300))]

    words = ("learn", tmp_path / "m", write_csv("a.csv", cities("city")), "--label", "kind")
    run_json(*words, "--as", "city=category")
    more = ("learn", tmp_path / "m", write_csv("b.csv", cities("town")))
    assert run_json(*more)["taught"] == 300
    assert "are left out or hashed (city)" in said(*more)


def test_a_row_whose_label_was_corrected_is_known_by_its_old_label(
    tmp_path, run, run_json, wines, wine
):
    run("correct", wines, "b3", "grignolino")
    assert run_json("learn", wines, wine)["known"] == 178


def test_a_stored_id_with_another_row_is_refused_and_replaced_if_asked(
    tmp_path, run, run_json, refused, wines, wine_rows, write_csv, saved
):
    wine_rows[18][0] = 11.0
    changed = write_csv("changed.csv", wine_rows)
    assert "line 19: Example 'b17' is stored with another row" in refused("learn", wines, changed)
    told = run_json("learn", wines, changed, "--replace")
    assert (told["taught"], told["replaced"], told["known"]) == (0, 1, 177)
    run("learn", tmp_path / "fresh", changed, "--label", "kind", "--id", "bottle")
    mine, other = (Learner.open(each, read_only=True) for each in (wines, tmp_path / "fresh"))
    rows = features(wine_rows)
    assert (mine.scores(rows) == other.scores(rows)).all()


def test_replacing_changes_no_label(refused, wines, wine_rows, write_csv, saved):
    wine_rows[18][wine_rows[0].index("kind")] = "lugana"
    changed, before = write_csv("changed.csv", wine_rows), saved(wines)
    for words in ((), ("--replace",)):
        said = refused("learn", wines, changed, *words)
        assert "line 19: Example 'b17' is stored with another label" in said
    assert saved(wines) == before


def test_the_column_of_labels_stays_that_of_the_model(refused, run_json, table, people):
    message = refused("learn", table, people, "--label", "city")
    assert "The labels of this model are in the column 'kind', not 'city'" in message
    assert run_json("learn", table, people)["known"] == 60


def test_a_record_with_some_columns_keeps_the_other_values(table, run_json, saved, tmp_path):
    before = Learner.open(table, read_only=True)
    row = objects(PEOPLE)[6]
    told = run_json(
        "learn", table, "-", "--replace", input=json.dumps({"key": "k6", "kind": "b", "age": 99})
    )
    assert told["replaced"] == 1
    after = Learner.open(table, read_only=True)
    wanted = {name: row[name] for name in ("city", "since", "vip", "about")} | {"age": 99}
    assert after.find(wanted) == ["k6"]
    assert before.find(wanted) == []


def test_late_columns_and_categories_are_learned_and_said(table, said, run_json, write_csv):
    header, *rows = PEOPLE
    more = [["70", "paris", *row[2:6], f"n{i}", i] for i, row in enumerate(rows[:4])]
    file = write_csv("more.csv", [[*header, "height"], *more])
    assert "New column height: number" in said("learn", table, file)
    told = run_json("learn", table, file)
    assert (told["known"], told["examples"]) == (4, 64)
    # A file that has got a new column does not contradict what was stored without it.
    again = [[*row, 1.5] for row in rows]
    assert (
        run_json("learn", table, write_csv("a.csv", [[*header, "height"], *again]))["known"] == 60
    )


def test_a_file_that_lacks_a_column_or_the_label_is_refused(
    table, refused, write_csv, wine, tmp_path
):
    header, *rows = PEOPLE
    file = write_csv("d.csv", [header[1:], *(row[1:] for row in rows)])
    assert "has no column age, which this model was taught with" in refused("learn", table, file)
    assert "Name the label column of" in refused("learn", tmp_path / "m", wine)
    assert "(did you mean 'kind'?)" in refused("learn", tmp_path / "m", wine, "--label", "kinds")
    assert "has no column 'kind', from which" in refused(
        "learn", table, write_csv("e.csv", [[*header[:5], "key"], [*rows[0][:5], "z"]])
    )
    assert "has no column 'key', from which" in refused(
        "learn", table, write_csv("e.csv", [header[:6], rows[0][:6]])
    )
    assert not (tmp_path / "m").exists()


def test_a_bad_row_ends_it_with_its_place_and_keeps_what_came_before(
    tmp_path, refused, run_json, write_csv, table, wine_rows
):
    header, *rows = PEOPLE
    file = write_csv("d.csv", [header, [*rows[0][:6], "new"], [*rows[1], "more"], rows[2]])
    told = refused("learn", table, file)
    assert f"{file}, line 3: there are 8 fields, but the header has 7;" in told
    assert told.endswith("The rows before it are kept.")
    assert run_json("info", table)["examples"] == 61
    no_label = write_csv("e.csv", [header, [*rows[0][:5], "", "newer"]])
    assert "line 2: it has no label; fill it in" in refused("learn", table, no_label)
    no_id = write_csv("e.csv", [header, [*rows[0][:6], ""]])
    assert "line 2: it has no id; fill it in" in refused("learn", table, no_id)
    wrong = write_csv("e.csv", [header, ["1e400", *rows[0][1:6], "newest"]])
    assert "line 2: " in refused("learn", table, wrong)
    assert "'age'" in refused("learn", table, wrong)


def test_a_bad_row_among_the_first_of_a_new_model_teaches_nothing(tmp_path, refused, write_csv):
    file = write_csv("d.csv", [["a", "kind"], [1, "x"], [2, "y", 3]])
    told = refused("learn", tmp_path / "m", file, "--label", "kind")
    assert "line 3: there are 3 fields" in told
    assert "Nothing has been taught; --skip-bad FILE skips such rows." in told
    assert not (tmp_path / "m").exists()


def test_bad_rows_are_skipped_and_written_down(tmp_path, run_json, refused, write_csv):
    header, *rows = PEOPLE
    bad = [[*rows[1], "more"], [*rows[2][:5], "", "k2"], ["1e400", *rows[3][1:]]]
    file, skipped = write_csv("d.csv", [header, *rows[4:], *bad, rows[0]]), tmp_path / "bad.csv"
    words = ("learn", tmp_path / "m", file, *NAMED, "--skip-bad", skipped)
    told = run_json(*words)
    assert (told["taught"], told["skipped"]) == (57, 3)
    reasons = skipped.read_text().splitlines()
    assert reasons[0] == "where,reason,row"
    assert [each.split(",")[0] for each in reasons[1:]] == ["line 58", "line 59", "line 60"]
    assert "k2" in reasons[2]
    assert "There is already a" in refused(*words)
    file = write_csv("e.csv", [header, *bad])
    told = refused("learn", tmp_path / "m", file, "--skip-bad", tmp_path / "all.csv")
    assert told.startswith(f"None of the 3 rows of {file} could be used. The first is: ")


def test_a_window_forgets_the_oldest_and_can_be_set_without_rows(run_json, said, wines, wine):
    told = run_json("learn", wines, wine, "--keep", "100")
    assert told["examples"] <= 178
    assert "The window is now 50; " in said("learn", wines, "-", "--keep", "50", input="")
    told = run_json("info", wines)
    assert (told["examples"], told["keep"]) == (50, 50)


@pytest.mark.parametrize(
    ("text", "keep"),
    [("all", "all"), ("per-label:20", {"per_label": 20}), ("30d", "30d"), ("90", 90)],
)
def test_a_window_is_remembered(run_json, wines, text, keep):
    run_json("learn", wines, "-", "--keep", text, input="")
    assert run_json("info", wines)["keep"] == keep


@pytest.mark.parametrize("text", ["0", "-3", "some", "per-label:0", "3y"])
def test_what_is_no_window_is_refused(refused, wines, wine, text):
    assert "--keep must be all, a whole number" in refused("learn", wines, wine, "--keep", text)


def test_nothing_is_no_model(tmp_path, refused):
    assert "standard input is empty" in refused("learn", tmp_path / "m", "-", input="")
    assert "There is no file" in refused("learn", tmp_path / "m", "no.csv", "--label", "kind")
    assert not (tmp_path / "m").exists()


def test_people_read_the_facts_that_scripts_get(tmp_path, run, run_json, wine):
    told = run("learn", tmp_path / "m", wine, "--label", "kind", "--id", "bottle").splitlines()
    facts = dict(line.split(":", 1) for line in told)
    assert (facts["taught"].strip(), facts["examples"].strip()) == ("178", "178")
    assert "expected on new rows (95% interval: " in facts["expected_accuracy"]
    assert facts.keys() == run_json("learn", tmp_path / "m", wine).keys()


def test_an_accuracy_that_cannot_be_trusted_is_a_sentence_and_null(tmp_path, run, run_json):
    model = tmp_path / "m"
    with Learner.open(model, whiten=True) as learner:
        learner.teach_many(np.arange(60.0).reshape(20, 3) % 7, ["a", "b"] * 10)
    np.savez(tmp_path / "d.npz", X=np.arange(12.0).reshape(4, 3) % 5, y=["a", "b"] * 2)
    told, info = run("learn", model, tmp_path / "d.npz"), run_json("info", model)
    assert info["expected_accuracy"]["accuracy"] is None
    assert info["expected_accuracy"]["reliable"] is False
    assert info["expected_accuracy"]["reason"][1:-1] in told
    assert info["label_errors"]["wrong"] is None
    assert "%" not in told
    assert "nan" not in run("list", model, "--suspects")


def test_a_drift_is_noted_and_shown(tmp_path, said, run_json, write_csv):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(700, 2))
    labels = np.where(x[:, 0] > 0, "a", "b")
    labels[400:] = np.where(x[400:, 0] > 0, "b", "a")
    rows = [
        ["x", "y", "kind"],
        *([*map(float, row), str(label)] for row, label in zip(x, labels, strict=True)),
    ]
    notes = said("learn", tmp_path / "m", write_csv("d.csv", rows), "--label", "kind")
    assert notes.count("were predicted correctly before being taught") == 1
    told = run_json("info", tmp_path / "m")
    assert told["last_drift"]["where"].startswith(f"{tmp_path / 'd.csv'}, line ")
    assert 0.0 < told["right_before_taught"] < 1.0


def test_labels_get_the_type_of_the_model(tmp_path, run_json, write_csv):
    np.savez(tmp_path / "d.npz", X=np.arange(20.0).reshape(10, 2), y=[1, 2] * 5)
    run_json("learn", tmp_path / "m", tmp_path / "d.npz")
    np.savez(tmp_path / "e.npz", X=np.arange(4.0).reshape(2, 2) - 9, y=["1", "2.0"])
    told = run_json("learn", tmp_path / "m", tmp_path / "e.npz")
    assert (told["taught"], told["classes"]) == (2, 2)
    assert run_json("info", tmp_path / "m")["classes"] == {"1": 6, "2": 6}


def test_a_decimal_comma_and_an_encoding_are_options(tmp_path, run, run_json, refused):
    file = tmp_path / "d.csv"
    rows = "".join(f"1.00{i % 8},5;größe;{'ab'[i % 2]}\n" for i in range(40))
    file.write_bytes(f"x;c;kind\n{rows}".encode("cp1252"))
    words = ("learn", tmp_path / "m", file, "--label", "kind")
    assert "add --encoding cp1252" in refused(*words)
    run(*words, "--encoding", "cp1252", "--decimal", ",")
    told = run_json("info", tmp_path / "m")
    assert told["columns"]["x"].startswith("number")
    assert told["decimal"] == ","  # remembered
    assert run_json("learn", tmp_path / "m", file, "--encoding", "cp1252")["known"] == 40


def test_a_decimal_comma_that_is_remembered_does_not_read_points_as_thousands(
    tmp_path, run, run_json, refused, rows_of
):
    first, later = tmp_path / "d.csv", tmp_path / "e.csv"
    first.write_text("x;kind\n" + "".join(f"1,{500 + i};{'ab'[i % 2]}\n" for i in range(40)))
    later.write_text("x,kind\n2.5,a\n1.596,b\n")
    run("learn", tmp_path / "m", first, "--label", "kind", "--decimal", ",")
    said = refused("predict", tmp_path / "m", later)
    assert "line 3: column 'x': with the decimal comma of an earlier file 1.596 is 1596" in said
    assert "add --decimal , if that is right, otherwise --decimal ." in said
    assert len(rows_of("predict", tmp_path / "m", later, "--decimal", ".")) == 2
    assert len(rows_of("predict", tmp_path / "m", later, "--decimal", ",")) == 2


def test_images_of_one_size_are_taught_and_others_are_resized_by_a_map_with_a_size(
    tmp_path, run_json, rows_of, refused, people
):
    write_images(tmp_path / "a", (16, 16))
    write_images(tmp_path / "b", (20, 24))
    words = ("--features", "scattering")
    assert run_json("learn", tmp_path / "m", tmp_path / "a", *words)["taught"] == 12
    assert "pixels, but the others 16 × 16; to resize" in refused(
        "learn", tmp_path / "m", tmp_path / "b"
    )
    resized = tmp_path / "resized"
    run_json("learn", resized, tmp_path / "a", "--features", "scattering:16x16")
    assert run_json("learn", resized, tmp_path / "b")["taught"] == 12
    found = rows_of("predict", resized, tmp_path / "b" / "dark" / "1.png")
    assert [(each["id"], each["label"]) for each in found] == [("1.png", "dark")]
    assert "is for images" in refused(
        "learn", tmp_path / "n", people, "--label", "kind", "--features", "projection:9x9"
    )


def test_one_column_of_text_is_taught(tmp_path, run_json, rows_of, write_csv):
    texts = ["red apple pie", "green apple tart", "old steel bolt", "new steel nut"] * 5
    rows = [
        ["text", "kind"],
        *([f"{t} {i}", "food" if "apple" in t else "iron"] for i, t in enumerate(texts)),
    ]
    file = write_csv("d.csv", rows)
    told = run_json("learn", tmp_path / "m", file, "--label", "kind", "--features", "text")
    assert told["taught"] == 20
    found = rows_of("predict", tmp_path / "m", "-", input='{"text": "apple"}\n{"text": "steel"}\n')
    assert [each["label"] for each in found] == ["food", "iron"]


def test_a_function_of_your_own_is_named_again_and_never_imported_by_itself(
    tmp_path, run, rows_of, refused, write_csv, monkeypatch
):
    (tmp_path / "mine_of_test.py").write_text(
        "import numpy as np\ndef squares(X):\n    return np.asarray(X, float) ** 2\nnone = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = [["a", "b", "kind"], *([i % 7, i % 5, "xy"[i % 2]] for i in range(20))]
    file, own = write_csv("d.csv", rows), ("--features", "mine_of_test:squares")
    run("learn", tmp_path / "m", file, "--label", "kind", *own)
    assert "name the function with --features" in refused("predict", tmp_path / "m", file)
    assert len(rows_of("predict", tmp_path / "m", file, *own)) == 20
    run("info", tmp_path / "m")
    assert "could not be imported" in refused("predict", tmp_path / "m", file, "--features", "no:f")
    assert "is not a function" in refused(
        "predict", tmp_path / "m", file, "--features", "mine_of_test:none"
    )


def test_a_classifier_and_a_command_share_a_model(table, rows_of, people):
    from minout import MinoutClassifier

    predicted = MinoutClassifier(store=table).predict(features(PEOPLE)).tolist()
    assert predicted == [each["label"] for each in rows_of("predict", table, people)]


def test_a_new_model_of_a_stream_needs_the_name_of_its_label_column(tmp_path, refused):
    lines = '{"state": "up", "x": 1}\n{"state": "down", "x": 2}\n'
    why = refused("learn", tmp_path / "model.minout", "-", input=lines)
    assert "Name the label column of standard input with --label; it has state, x." in why
    assert not (tmp_path / "model.minout").exists()
