"""Text that is not UTF-8: read with an encoding, and which one a message names."""

import gzip
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError, MinoutError, MissingDataError
from minout.streams.files import checked, read
from minout.streams.files.encoding import check_encoding, encoding_hint, not_utf8

TEXT = 'größe,art\n1,"süß, €"\n2,salé\n'
OBJECTS = '{"größe": 1, "art": "süß, €"}\n{"größe": 2, "art": "salé"}\n'


@pytest.fixture
def written(tmp_path):
    def write(content: bytes, name: str = "data.csv"):
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


@pytest.mark.parametrize("name", ["data.csv", "data.jsonl", "data.csv.gz"])
@pytest.mark.parametrize(
    "encoding",
    ["cp1252", "iso8859_15", "UTF-16", "utf-16-be", "utf_32", "utf-8", "utf-8-sig", "utf-7"],
)
def test_a_file_is_read_in_its_encoding(written, monkeypatch, name, encoding):
    monkeypatch.setattr(checked, "CHUNK", 7)  # characters of several bytes are cut
    content = (OBJECTS if "json" in name else TEXT).encode(encoding)
    path = written(gzip.compress(content) if name.endswith("gz") else content, name)
    with read(path, label="art", encoding=encoding) as reader:
        came = list(reader)
    assert reader.columns == ("größe",)
    assert [(each.row.item(), each.label) for each in came] == [(1.0, "süß, €"), (2.0, "salé")]


def test_a_byte_order_mark_is_no_part_of_the_first_name(written):
    for encoding in ("utf-16-le", "utf-16-be", "utf-8"):
        path = written(("\ufeff" + TEXT).encode(encoding))
        assert len(everything(path, label="art", columns=["größe"], encoding=encoding)) == 2
        lines = written(("\ufeff" + OBJECTS).encode(encoding), "data.jsonl")
        assert len(everything(lines, label="art", columns=["größe"], encoding=encoding)) == 2


def test_standard_input_is_read_in_its_encoding(monkeypatch):
    given = io.TextIOWrapper(io.BytesIO(OBJECTS.encode("utf-16")))
    monkeypatch.setattr(sys, "stdin", given)
    labels = [each.label for each in everything("-", label="art", encoding="utf-16")]
    assert labels == ["süß, €", "salé"]
    assert not given.closed


@pytest.mark.parametrize(
    "encoding",
    [
        "cp1225",
        "rot13",
        "base64",
        "hex",
        "zip",
        "idna",
        "punycode",
        "unicode_escape",
        "undefined",
        "../x",
        "aliases",
    ],
)
def test_what_is_no_text_encoding_is_refused(written, encoding):
    said = refusal(written(b"a\n1\n"), encoding=encoding)
    assert said.startswith(f"{encoding!r} is not a text encoding that Python knows; pass")
    assert "cp1252, latin-1 or utf-16" in said


def test_a_name_that_no_encoding_can_have_is_refused(written):
    for encoding in ("", "a\0b", "\udce9", "é"):
        assert "is not a text encoding" in refusal(written(b"a\n1\n"), encoding=encoding)


@pytest.mark.parametrize("name", ["data.csv", "data.jsonl"])
@pytest.mark.parametrize("bad", ["\x81", "half"])
def test_what_an_encoding_cannot_decode_is_named_with_its_line(written, name, bad):
    encoding = "cp1252" if bad != "half" else "utf-16-le"
    whole = (OBJECTS if "json" in name else TEXT).encode(encoding)
    last = bad.encode("latin-1") if bad != "half" else b"\0"
    path = written(whole + last, name)
    rows, line = [], whole.decode(encoding).count("\n") + 1
    with (
        read(path, label="art", encoding=encoding) as reader,
        pytest.raises(MissingDataError) as caught,
    ):
        rows.extend(example.row.item() for example in reader)
    assert rows == [1.0, 2.0]
    assert str(caught.value).startswith(f"{path}, line {line}: the text is not {encoding}; give")


def test_a_file_that_the_encoding_does_not_fit_at_all_is_refused(written):
    path = written(TEXT.encode("utf-16"))
    assert "line 1: the text is not cp1252; it may be utf-16" in refusal(path, encoding="cp1252")
    assert "line 1: the text is not ascii" in refusal(written(TEXT.encode()), encoding="ascii")


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        (b"caf\xe9", "cp1252"),
        (b"\x93quoted\x94", "cp1252"),
        (b"\x81", "latin-1"),
        ("größe,art".encode("utf-16"), "utf-16"),
        ("größe,art".encode("utf-16-le"), "utf-16-le"),
        ("größe,art".encode("utf-16-be"), "utf-16-be"),
        (b"\0" + "1,süß\n".encode("utf-16-le"), "utf-16-be"),
        ("größe,art".encode("utf-32"), "utf-32"),
        (b"", "cp1252"),
    ],
)
def test_the_hint_is_an_encoding_that_decodes_the_text(raw, hint):
    assert encoding_hint(raw) == hint
    assert check_encoding(hint)
    if not raw.startswith(b"\0"):  # a line that begins with half of a line end
        raw.decode(hint)


@given(st.binary(max_size=100))
def test_a_hint_for_any_bytes_is_an_encoding_and_the_sentence_is_one_line(raw):
    assert check_encoding(encoding_hint(raw))
    assert "\n" not in not_utf8("it", raw)
    assert not_utf8("it", raw) == not_utf8("it", raw.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("name", "encoding"),
    [(name, each) for name in ("data.csv", "data.jsonl") for each in ("cp1252", "utf-16")]
    + [("data.csv", "utf-16-le"), ("data.csv", "utf-16-be"), ("data.jsonl", "utf-16-le")],
)
def test_what_a_message_suggests_reads_the_file(written, name, encoding):
    path = written((TEXT if name == "data.csv" else OBJECTS).encode(encoding), name)
    said = refusal(path, label="art")
    assert f"{path}, line 1: " in said
    assert f"(add --encoding {encoding})" in said
    assert len(everything(path, label="art", encoding=encoding)) == 2


def test_a_label_and_a_text_that_are_not_utf8_are_named_with_line_and_hint(written):
    path = written("a,kind\n1,tea\n2,café\n".encode("latin-1"))
    assert refusal(path, label="kind") == (
        f"{path}, line 3: the label is not UTF-8; it may be cp1252 (add --encoding cp1252), or "
        "save it as UTF-8."
    )
    assert "line 3: column 'kind' is not UTF-8; it may be cp1252" in refusal(
        path, label="a", rows="text"
    )


def test_binary_data_are_not_called_text(written):
    path = written(b"\x89PNG\x1a\0\0\xff\xfe\x01\x02abc\n" * 20)
    assert "is not text, but binary data" in refusal(path)


def test_an_encoding_leaves_other_kinds_of_files_alone(written):
    with pytest.raises(InvalidInputError, match="not a text encoding"):
        read("nowhere.csv", encoding="rot13")
    assert "is not an NPZ file" in refusal(written(b"", "data.npz"), encoding="cp1252")
