"""Files and moments that once broke a table: nothing is lost, and one sentence says why."""

import json

import pytest

from minout import InvalidInputError, TableEncoder

pytestmark = pytest.mark.usefixtures("little_is_chosen")


def table(n, first="x,c,kind,key"):
    return [
        first.split(","),
        *([i * 1.1, "rs"[i % 2], "ab"[i % 3 == 0], f"k{i}"] for i in range(n)),
    ]


def test_skip_bad_never_removes_a_file_that_it_did_not_make(tmp_path, write_csv, run, refused):
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("\nmy thesis\n")
    words = (
        "learn",
        tmp_path / "m",
        write_csv("d.csv", table(30)),
        "--label",
        "kind",
        "--skip-bad",
    )
    assert "would overwrite" in refused(*words, thesis)
    (tmp_path / "link.csv").symlink_to(tmp_path / "new.csv")
    assert "would overwrite" in refused(*words, tmp_path / "link.csv")
    assert "there is no folder" in refused(*words, tmp_path / "nowhere" / "bad.csv")
    run(*words, tmp_path / "bad.csv")
    assert (tmp_path / "bad.csv").read_text().strip() == "where,reason,row"
    assert "folder of a model" in refused(*words, tmp_path / "m" / "bad.csv")
    assert thesis.read_text() == "\nmy thesis\n"


def test_rows_after_an_open_quote_are_not_lost_in_silence(tmp_path, refused):
    lines = [f"{i},{'ab'[i % 2]}" for i in range(500)]
    lines[10] = '1,"a'
    file = tmp_path / "d.csv"
    file.write_text("x,kind\n" + "\n".join(lines) + "\n")
    words = ("learn", tmp_path / "m", file, "--label", "kind", "--skip-bad", tmp_path / "bad.csv")
    assert "line 12: a quote is opened and never closed" in refused(*words)
    lines[400] = 'b"'
    file.write_text("x,kind\n" + "\n".join(lines) + "\n")
    assert "line 12: a quote is opened here, and the row ends only in line 402" in refused(*words)


def test_an_interrupted_update_leaves_a_table_that_can_be_read(
    tmp_path, write_csv, run, monkeypatch
):
    model, file = tmp_path / "m", write_csv("d.csv", table(30))
    run("learn", model, file, "--label", "kind", "--id", "key")

    def interrupt(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TableEncoder, "described", interrupt)
        with pytest.raises(AssertionError):
            run("update", model, "k1", json.dumps({"x": 1, "c": "new"}))
    run("predict", model, file)


def test_compact_leaves_no_word_of_a_forgotten_example(tmp_path, write_csv, run, run_json):
    rows = table(30)
    rows[6][1] = "SECRETNAME"
    model = tmp_path / "m"
    run("learn", model, write_csv("d.csv", rows), "--label", "kind", "--id", "key")
    run("forget", model, "k5")
    run("compact", model)
    assert not any(b"SECRETNAME" in each.read_bytes() for each in model.iterdir())
    more = write_csv("more.csv", [rows[0], [1.5, "SECRETNAME", "a", "again"], rows[1]])
    assert run_json("learn", model, more)["taught"] == 1
    assert run_json("audit", model)["ok"]


def test_different_rows_that_share_hashes_are_all_taught(tmp_path, write_csv, run_json):
    def cities(name):
        return [["city", "kind"], *([f"{name}{i}", "ab"[i % 2]] for i in range(300))]

    words = ("--label", "kind", "--as", "city=category")
    run_json("learn", tmp_path / "m", write_csv("a.csv", cities("city")), *words)
    assert (
        run_json("learn", tmp_path / "m", write_csv("b.csv", cities("town")), *words)["known"] == 0
    )


def test_one_number_too_large_does_not_make_a_column_an_identifier(tmp_path, write_csv, refused):
    rows = table(100)
    rows[50][0] = "1e400"
    said = refused(
        "learn", tmp_path / "m", write_csv("d.csv", rows), "--label", "kind", "--id", "key"
    )
    assert "line 51" in said
    assert "'x'" in said


def test_text_that_is_not_utf_16_is_refused_in_one_sentence(tmp_path, write_csv, refused):
    file = write_csv("d.csv", table(30))
    refused("learn", tmp_path / "m", file, "--label", "kind", "--encoding", "utf-16")


def test_the_last_moment_of_9999_can_be_decoded():
    encoder, moment = TableEncoder(), {"d": "9999-12-31T23:59:59.999999"}
    encoder.start([moment])
    assert encoder.decode(encoder.encode_known(moment))["d"].startswith("9999")


def test_a_table_of_very_many_columns_is_refused(monkeypatch):
    monkeypatch.setattr("minout.tables.encoder.MOST_COLUMNS", 50)
    monkeypatch.setattr("minout.tables.encoder.MOST_TEXTS", 3)
    with pytest.raises(InvalidInputError, match="at most 50 columns"):
        TableEncoder().start([{f"c{i}": 1 for i in range(51)}])
    texts = {f"c{i}": "text" for i in range(4)}
    with pytest.raises(InvalidInputError, match="at most 3 columns of text"):
        TableEncoder(texts).start([dict.fromkeys(texts, "")])


def test_a_decimal_comma_is_remembered(tmp_path, run):
    def write(name, values):
        file = tmp_path / name
        file.write_text("x;c;kind\n" + "".join(f"{v};r;{k}\n" for v, k in values))
        return file

    model = tmp_path / "m"
    rows = [(f"1.{i:03d},5" if i % 2 else f"0,{i}", "ab"[i % 2]) for i in range(60)]
    run("learn", model, write("d.csv", rows), "--label", "kind")
    assert ",b," in run("predict", model, write("n.csv", [("1.234", "b")]))
