"""Compressed text files: what is read, damage in the middle, and files that are none."""

import bz2
import gzip
import lzma
import os
import socket
import sys

import numpy as np
import pytest

from minout.errors import InvalidInputError, MinoutError, MissingDataError, MissingExtraError
from minout.streams.files import checked, read
from minout.streams.files.opening import open_bytes, open_text

CSV = b"a,kind\n1,cat\n2,dog\n"
JSON = b'{"a": 1, "kind": "cat"}\n{"a": 2, "kind": "dog"}\n'
SUFFIXES = ["gz", "bz2", "xz", "zst"]


def zstandard(data: bytes) -> bytes:
    import pyarrow

    return pyarrow.compress(data, codec="zstd", asbytes=True)


COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard}


@pytest.fixture
def written(tmp_path):
    def write(content: bytes, name: str):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


def everything(source, **asked):
    with read(source, **asked) as reader:
        return list(reader)


def refusal(source, **asked) -> str:
    with pytest.raises(MinoutError) as caught:
        everything(source, **asked)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def many_rows(count: int = 20_000) -> bytes:
    values = np.random.default_rng(0).normal(size=count)
    return b"a,kind\n" + b"".join(b"%r,cat\n" % value for value in values.tolist())


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", ["csv", "CSV", "tsv", "txt", "jsonl", "ndjson"])
def test_a_compressed_file_is_read_as_the_plain_one(written, kind, suffix):
    content = JSON if "json" in kind else CSV
    came = everything(written(COMPRESS[suffix](content), f"data.{kind}.{suffix}"), label="kind")
    assert [(each.row.item(), each.label) for each in came] == [(1.0, "cat"), (2.0, "dog")]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_members_of_a_file_are_read(written, suffix):
    parts = [COMPRESS[suffix](part) for part in (CSV, b"3,cat\n4,", b"dog\n")]
    came = everything(written(b"".join(parts), f"data.csv.{suffix}"), label="kind")
    assert [each.row.item() for each in came] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_rows_before_damage_are_read_and_then_it_is_said(written, kind, suffix):
    whole = many_rows()
    if kind == "jsonl":
        values = [line.split(b",")[0] for line in whole.splitlines()[1:]]
        whole = b"".join(b'{"a": %b}\n' % value for value in values)
    path = written(b"", f"data.{kind}.{suffix}")
    path.write_bytes(COMPRESS[suffix](whole)[:-5_000] if suffix != "bz2" else bz2_cut(whole))
    rows = []
    with (
        read(path, ignore=["kind"] if kind == "csv" else []) as reader,
        pytest.raises(MissingDataError) as caught,
    ):
        rows.extend(example.row.item() for example in reader)
    assert str(caught.value) == (
        f"{path} is damaged; the rows before the damage were read. Write or copy it again."
    )
    expected = np.random.default_rng(0).normal(size=20_000)[: len(rows)]
    assert rows == expected.tolist()
    assert len(rows) > 5_000


def bz2_cut(data: bytes) -> bytes:
    whole = bz2.compress(data, compresslevel=1)  # in blocks of 100 kB
    return whole[: len(whole) * 2 // 3]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bytes_changed_in_the_middle_never_raise_anything_but_one_sentence(written, suffix):
    good = COMPRESS[suffix](many_rows(300))
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(60):
        bad = bytearray(good)
        for place in rng.integers(len(good), size=3):
            bad[place] = rng.integers(256)
        path = written(bytes(bad), f"data.csv.{suffix}")
        try:
            everything(path, label="kind")
        except MinoutError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert "\n" not in "".join(refused)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_not_compressed_is_refused(written, suffix):
    for content in (CSV, os.urandom(500).replace(b"\x1f", b""), b"\0"):
        said = refusal(written(content, f"data.csv.{suffix}"))
        assert f"data.csv.{suffix} is not a " in said
        assert said.endswith("file, or it is damaged; write or copy it again.")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_and_one_that_holds_nothing_are_called_empty(written, suffix):
    assert "is empty; it needs a header" in refusal(written(b"", f"data.csv.{suffix}"))
    nothing = COMPRESS[suffix](b"")
    assert "is empty; it needs a JSON" in refusal(written(nothing, f"data.jsonl.{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_compressed_twice_or_has_another_name_is_recognised(written, suffix):
    once = COMPRESS[suffix](CSV)
    twice = written(COMPRESS["gz"](once), "data.csv.gz")
    assert refusal(twice) == f"{twice} is compressed twice; decompress it once."
    plain = written(once, "data.csv")
    assert f"data.csv is compressed with {checked_name(suffix)}; add .{suffix}" in refusal(plain)
    assert "is a ZIP archive" in refusal(written(b"PK\x03\x04 of Excel", "data.csv"))


def checked_name(suffix: str) -> str:
    return {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "Zstandard"}[suffix]


def test_other_kinds_of_files_are_not_read_compressed(written):
    for name in ("data.parquet.gz", "data.npz.xz"):
        assert f"{name} is compressed, but only .csv" in refusal(written(b"x", name))
    for name in ("data.gz", "data.xlsx.gz", "data.csv.gz.gz", ".gz"):
        assert "does not read; pass .csv" in refusal(written(b"x", name))


def test_the_fraction_is_that_of_the_compressed_file(written):
    path = written(gzip.compress(many_rows()), "data.csv.gz")
    with read(path, label="kind") as reader:
        seen = [reader.fraction_read() for _ in reader]
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < 0.5
    assert seen[-1] == 1.0


def test_without_pyarrow_one_sentence_says_how_to_read_zstandard(written, monkeypatch):
    path = written(zstandard(CSV), "data.csv.zst")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'need pyarrow: pip install "minout\[parquet\]"'):
        read(path)
    assert len(everything(written(gzip.compress(CSV), "data.csv.gz"), label="kind")) == 2


def test_devices_pipes_and_sockets_are_refused_before_they_are_opened(tmp_path, monkeypatch):
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.jsonl")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.npz")
        for name, kind in [("zero.csv", "device"), ("pipe.jsonl", "pipe"), ("socket.npz", "sock")]:
            with pytest.raises(InvalidInputError, match=f"{name} is a {kind}.*, not a file; copy"):
                read(tmp_path / name)
    with pytest.raises(InvalidInputError, match=r"pipe\.jsonl is a pipe"):
        open_text(tmp_path / "pipe.jsonl", "pipe.jsonl")


def test_links_are_followed_and_what_cannot_be_reached_is_said(tmp_path, written):
    (tmp_path / "link.csv").symlink_to(written(CSV, "data.csv"))
    assert len(everything(tmp_path / "link.csv", label="kind")) == 2
    (tmp_path / "broken.csv").symlink_to("nowhere")
    assert "There is no file" in refusal(tmp_path / "broken.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    assert "loop.csv could not be read: Too many levels" in refusal(tmp_path / "loop.csv")
    assert "There is no file" in refusal(tmp_path / "data.csv/more.csv")
    assert "There is no file" in refusal("a\0b.csv")
    assert "could not be read: File name too long" in refusal(tmp_path / f"{'x' * 300}.csv")


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"], ids=["plain", "gz", "zst"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_a_line_that_is_too_long_is_named(written, monkeypatch, suffix, end):
    monkeypatch.setattr(checked, "LONGEST_LINE", 200_000)
    compress = COMPRESS[suffix[1:]] if suffix else bytes
    rows = b"a,kind" + end + (b"1,cat" + end) * 30_000
    path = written(compress(rows + b"2" * 400_000), f"data.csv{suffix}")
    labels = []
    with read(path, label="kind") as reader, pytest.raises(MissingDataError) as caught:
        labels.extend(each.label for each in reader)
    assert f"{path}, line 30002: the line has more than 200,000 bytes" in str(caught.value)
    assert len(labels) == 30_000
    fine = written(compress(rows), f"fine.csv{suffix}")
    assert len(everything(fine, label="kind")) == 30_000


def test_zeros_without_end_are_not_read_into_the_memory(written, monkeypatch):
    monkeypatch.setattr(checked, "LONGEST_LINE", 1 << 20)
    bomb = gzip.compress(bytes(50 << 20))
    for name in ("data.csv.gz", "data.jsonl.gz"):
        assert "line 1: the line has more than 1,048,576" in refusal(written(bomb, name))


def test_line_ends_across_chunks_are_counted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(checked, "CHUNK", 3)
    monkeypatch.setattr(checked, "LONGEST_LINE", 20)
    for end in ("\n", "\r\n", "\r"):
        for extra in range(4):
            text = "x" * extra + end + f"ab{end}" * 10 + "y" * 30
            (tmp_path / "data.txt").write_bytes(text.encode())
            lines = []
            with (
                open_text(tmp_path / "data.txt", "data.txt") as opened,
                pytest.raises(MissingDataError, match=r"data\.txt, line 12: the line has more"),
            ):
                lines.extend(opened)
            assert lines == text.splitlines(keepends=True)[:-1]


def test_an_opened_file_is_an_iterator_and_gives_whole_lines(written):
    path = written(gzip.compress(b"a\r\nb\rc\n" * 50_000), "data.txt.gz")
    with open_text(path, "data") as text:
        assert [next(text), text.readline(), *text] == ["a\r\n", "b\r", "c\n"] + [
            "a\r\n",
            "b\r",
            "c\n",
        ] * 49_999
    with open_bytes(path, "data") as lines:
        assert [next(lines), *lines] == [b"a\r\n", b"b\rc\n"] * 50_000
    assert lines.file.closed
