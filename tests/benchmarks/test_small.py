"""Every benchmark runs, small, and prints whole tables."""

import gzip
import struct

import numpy as np
import pytest

from benchmarks.__main__ import NAMES, main, module_of
from benchmarks.data import images
from benchmarks.measuring import Options, Table, markdown


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_prints_rows_with_a_cell_for_each_column(name, capsys):
    main([name, "--small"])
    printed = capsys.readouterr().out
    table = [line for line in printed.splitlines() if line.startswith("|")]
    heads = [n for n, line in enumerate(table) if set(line) == set("| -")]
    assert heads
    assert len(table) > 2 * len(heads)
    for head, end in zip(heads, [*(n - 1 for n in heads[1:]), len(table)], strict=True):
        assert {line.count(" | ") for line in table[head - 1 : end]} == {table[head].count(" | ")}
    assert f"`python -m benchmarks {name} --small`: seed 0, commit " in printed


def test_without_a_name_every_benchmark_is_listed(capsys):
    main([])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert all(module_of(name).__doc__.splitlines()[0] in "\n".join(lines) for name in NAMES)


def test_an_unknown_name_is_refused_in_one_sentence(capsys):
    with pytest.raises(SystemExit):
        main(["steam"])
    assert "There is no benchmark steam; there are stream, " in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_mnist_files_become_rows_in_label_order(tmp_path, suffix):
    pixels = np.arange(3 * 4, dtype=np.uint8).reshape(3, 2, 2)
    labels = np.array([1, 0, 1], dtype=np.uint8)
    pack = gzip.compress if suffix else bytes
    for part in ("train", "t10k"):
        header = struct.pack(">4B3i", 0, 0, 8, 3, 3, 2, 2)
        file = tmp_path / f"{part}-images-idx3-ubyte{suffix}"
        file.write_bytes(pack(header + pixels.tobytes()))
        file = tmp_path / f"{part}-labels-idx1-ubyte{suffix}"
        file.write_bytes(pack(struct.pack(">4Bi", 0, 0, 8, 1, 3) + labels.tobytes()))
    data = images(Options(tmp_path))
    assert data.labels.tolist() == [0, 1, 1]
    assert np.allclose(data.rows * 255, pixels.reshape(3, 4)[[1, 0, 2]])
    assert np.allclose(data.test_rows * 255, pixels.reshape(3, 4))


def test_a_table_is_written_as_markdown():
    table = Table("t", ("a", "b"), [("1", "2")])
    assert markdown(table) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
