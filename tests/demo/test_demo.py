"""The demo, with few digits: what it prints and what it draws."""

import re

import numpy as np
from matplotlib.figure import Figure

from minout.cli import demo

DIGITS = demo.load(per_class=12, wrong=3)


def test_the_digits_are_in_label_order_and_some_labels_are_wrong():
    assert DIGITS.y.tolist() == sorted(DIGITS.y)
    assert (DIGITS.y != DIGITS.right).sum() == 3
    assert len(set(DIGITS.ids)) == len(DIGITS.y) == 120
    assert len(DIGITS.y_test) == 364


def test_ours_knows_what_it_was_taught_finds_wrong_labels_and_forgets(tmp_path, capsys):
    few = DIGITS._replace(X_test=DIGITS.X_test[:60], y_test=DIGITS.y_test[:60])
    demo.tell(few, tmp_path / "new")
    printed = capsys.readouterr().out
    taught = {name: float(re.search(f"{name} +([0-9.]+)%", printed)[1]) for name in demo.LINES}
    assert taught[demo.OURS] > 95.0
    assert taught[demo.SGD] < 80.0
    assert int(re.search(r"(\d+) have a wrong label; by chance", printed)[1]) >= 2
    assert "never saw it? Yes." in printed
    assert "everything agrees" in printed
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_curves_are_drawn():
    shares = np.linspace(0.0, 1.0, 120).tolist()
    curves = {name: list(zip(shares, shares, strict=True)) for name in demo.LINES}
    demo.draw(figure := Figure(), DIGITS, curves)
    for axes in figure.axes:
        assert [line.get_ydata()[-1] for line in axes.lines] == [100.0] * 3
    assert "3 of 120 labels are wrong" in figure.axes[0].get_title(loc="left")
