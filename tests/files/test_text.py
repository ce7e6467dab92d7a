"""Text files: encodings, compressed files, damage, and standard input as it comes."""

import bz2
import gzip
import io
import lzma
import os
import sys

import numpy as np
import pyarrow
import pytest

from minout.errors import MinoutError, MissingDataError
from minout.files import read, text

CSV = b"a,kind\n1,cat\n2,dog\n"
JSON = b'{"a": "1", "kind": "cat"}\n{"a": "2", "kind": "dog"}\n'
COMPRESS = {
    "gz": gzip.compress,
    "bz2": lambda data: bz2.compress(data, compresslevel=1),  # in blocks of 100 kB
    "xz": lzma.compress,
    "zst": lambda data: pyarrow.compress(data, codec="zstd", asbytes=True),
}


def many_rows(count: int) -> bytes:
    numbers = np.random.default_rng(0).normal(size=count)
    return b"a,kind\n" + b"".join(b"%.17g,cat\n" % each for each in numbers)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_compressed_file_is_read_as_the_plain_one(written, rows, suffix):
    for name, content in (("data.csv", CSV), ("data.jsonl", JSON)):
        path = written(f"{name}.{suffix}", COMPRESS[suffix](content))
        assert [each[:2] for each in rows(path, label="kind")] == [
            ({"a": "1"}, "cat"),
            ({"a": "2"}, "dog"),
        ]
    parts = [COMPRESS[suffix](part) for part in (CSV, b"3,cat\n4,", b"dog\n")]
    assert len(rows(written(f"parts.csv.{suffix}", b"".join(parts)))) == 4


@pytest.mark.parametrize("suffix", COMPRESS)
def test_rows_before_damage_are_read_and_then_it_is_said(written, suffix):
    whole = COMPRESS[suffix](many_rows(20_000))
    path = written(f"data.csv.{suffix}", whole[: len(whole) * 2 // 3])
    found = []
    with read(path, label="kind", skip=print) as reader:
        for batch in reader:
            found += [row["a"] for row in batch.X]
    assert str(batch.error) == (
        f"{path} is damaged after line {len(found) + 1}; the rows before were read. Write or copy "
        "it again."
    )
    assert len(found) > 5_000
    assert (
        list(map(float, found))
        == np.random.default_rng(0).normal(size=20_000)[: len(found)].tolist()
    )


@pytest.mark.parametrize("suffix", COMPRESS)
def test_bytes_changed_in_the_middle_raise_nothing_but_one_sentence(written, rows, suffix):
    good = COMPRESS[suffix](many_rows(300))
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(60):
        bad = bytearray(good)
        for place in rng.integers(len(good), size=3):
            bad[place] = rng.integers(256)
        try:
            rows(written(f"data.csv.{suffix}", bytes(bad)), label="kind")
        except MinoutError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert "\n" not in "".join(refused)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_name_that_does_not_fit_the_content_is_refused(written, refusal, suffix):
    assert "is not compressed as its name says" in refusal(written(f"a.csv.{suffix}", CSV))
    content = bz2.compress(CSV) if suffix == "bz2" else COMPRESS[suffix](CSV)
    assert f"add .{suffix} to its name" in refusal(written("a.csv", content))
    assert "is empty" in refusal(written(f"a.csv.{suffix}", b""))


def test_other_kinds_of_files_are_refused(tmp_path, written, refusal):
    assert "an Excel file" in refusal(written("a.csv", b"PK\x03\x04more"))
    assert "has a suffix that minout does not read" in refusal(written("a.npz.gz", b""))
    assert "has a suffix that minout does not read" in refusal(written("a.xlsx", b""))
    assert "There is no file" in refusal(tmp_path / "none.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a pipe or a device, not a file; pass -" in refusal(tmp_path / "pipe.csv")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-32", "UTF8", "mac"])
def test_a_file_is_read_in_its_encoding(written, rows, encoding):
    encoding = "mac-roman" if encoding == "mac" else encoding
    path = written("a.csv", "größe,kind\n1,café\n2,tee\n".encode(encoding))
    assert [each[:2] for each in rows(path, label="kind", encoding=encoding)] == [
        ({"größe": "1"}, "café"),
        ({"größe": "2"}, "tee"),
    ]
    path = written("a.jsonl", '{"größe": "1", "kind": "café"}'.encode(encoding))
    assert rows(path, label="kind", encoding=encoding)[0][:2] == ({"größe": "1"}, "café")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_the_encoding_that_a_message_suggests_reads_the_file(written, rows, refusal, encoding):
    for text_, name in (("a,kind\n1,café\n", "a.csv"), ('{"a": 1, "kind": "café"}', "a.jsonl")):
        path = written(name, text_.encode(encoding))
        said = refusal(path, label="kind")
        assert "the text is not UTF-8; it may be" in said
        suggested = said.split("--encoding ")[1].split(")")[0]
        assert rows(path, label="kind", encoding=suggested)[0][1] == "café"


def test_text_that_is_not_in_the_encoding_is_named_with_its_line(written, refusal):
    path = written("a.csv", b"a,kind\n1,cat\n2,caf\xe9\n")
    assert f"{path}, line 3: column 'kind': the text is not UTF-8" in refusal(path)
    assert "line 3: column 'kind': the text is not ascii" in refusal(path, encoding="ascii")
    path = written("b.csv", "a\n1\n".encode("utf-16")[:-1])
    assert "after line 1: the text is not utf-16" in refusal(path, encoding="utf-16")
    for wrong in ("base64", "no-such", "a\0b"):
        assert "is not a text encoding that Python knows" in refusal(path, encoding=wrong)


def test_lines_across_chunks_are_counted_once(written, rows, monkeypatch):
    monkeypatch.setattr(text, "CHUNK", 3)
    for end in ("\n", "\r\n", "\r"):
        content = end.join(["a,é", *["1,ü", "2,ö"] * 20]) + end
        assert [each[3] for each in rows(written("a.csv", content))] == list(range(2, 42))


@pytest.fixture
def stream(monkeypatch):
    """Standard input that a test writes to."""
    outlet, inlet = os.pipe()
    with open(outlet) as given, open(inlet, "wb", buffering=0) as giving:
        monkeypatch.setattr(sys, "stdin", given)
        yield giving


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_batch_of_standard_input_is_what_has_arrived(stream, kind):
    parts = [b'{"a": "1"}\n{"a": "2"}\n{"a"', b': "3"}\n']
    if kind == "csv":
        parts = [b"a,b\n1,\n2,\n3", b",\n"]
    stream.write(parts[0])
    reader = read("-")
    batches = iter(reader)
    assert reader.is_live
    assert [row["a"] for row in next(batches).X] == ["1", "2"]
    stream.write(parts[1])
    batch = next(batches)
    assert [row["a"] for row in batch.X] == ["3"]
    assert batch.lines == [4 if kind == "csv" else 3]
    stream.close()
    assert list(batches) == []


def test_standard_input_may_have_an_encoding_or_be_empty_or_closed(monkeypatch, rows, refusal):
    content = '\n{"é": 1}\n'.encode("cp1252")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert rows("-", encoding="cp1252") == [({"é": 1}, None, None, 2)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    assert rows("-") == []
    monkeypatch.setattr(sys, "stdin", None)
    assert "Standard input is closed" in refusal("-")


def test_a_stream_that_fails_is_said(monkeypatch):
    class Failing(io.RawIOBase):
        def read1(self, _):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": Failing()}))
    with pytest.raises(MissingDataError, match="could not be read further: Input/output error"):
        read("-")


@pytest.mark.parametrize(
    ("name", "first"), [("a.csv.gz", "a,b\n1,2\n"), ("a.jsonl.gz", '{"a": 1}\n{"a": 2}\n')]
)
def test_empty_lines_without_end_are_one_sentence(written, refusal, rows, monkeypatch, name, first):
    monkeypatch.setattr("minout.files.text.MOST_EMPTY", 1_000)
    last = first.splitlines()[-1] + "\n"

    def packed(text):
        return written(name, gzip.compress(text.encode()))

    few = rows(packed("\n" * 9 + first + "\n \n" * 500 + last))
    assert [line for *_, line in few][-1] == 1_012
    file = packed(first + "\n" * 5_000 + last)
    assert f"{file}, line 1003: 1,001 lines are empty, one after the other;" in refusal(file)
    assert "line 1001: 1,001 lines are empty" in refusal(packed("\n" * 5_000 + first))


def test_rows_of_nothing_but_quotes_without_end_are_one_sentence(written, refusal, monkeypatch):
    monkeypatch.setattr("minout.files.text.MOST_EMPTY", 1_000)
    packed = gzip.compress(b"a,b\n1,2\n" + b'""\n" "\n' * 2_500)
    assert "line 1003: 1,001 lines are empty" in refusal(written("a.csv.gz", packed))
