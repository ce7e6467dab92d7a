"""Somebody else's function as a feature map."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.features import Encoder


def lengths(words):
    return np.array([[len(word), word in {"a", "b", "cd"}] for word in words])


class Network:
    """Stands for a frozen network that knows its own name."""

    def __init__(self, fingerprint):
        self.fingerprint = fingerprint

    def __call__(self, batch):
        return lengths(batch)


class Nameless:
    def __call__(self, batch):
        return lengths(batch)

    def encode(self, batch):
        return lengths(batch)


def test_a_batch_may_be_a_list_of_anything():
    made = Encoder(lengths).transform(["a", "three"])
    assert made.tolist() == [[1, 1], [5, 0]]
    assert made.dtype == np.float32


def test_rows_become_the_promised_type():
    for returned in (np.float16, np.float32, np.float64, np.int8, np.bool_):
        encoder = Encoder(lambda batch, dtype=returned: np.ones((len(batch), 2), dtype))
        assert encoder.transform("abc").dtype == np.float32
    assert Encoder(lengths, dtype="float64").transform(["x"]).dtype == np.float64


def test_what_the_function_returned_is_not_kept():
    kept = np.ones((2, 3), dtype=np.float32)
    rows = Encoder(lambda _: kept).transform([0, 1])
    rows[:] = 9
    assert (kept == 1).all()


def test_an_error_inside_the_function_comes_through():
    with pytest.raises(ZeroDivisionError):
        Encoder(lambda _: 1 / 0).transform(["x"])


RETURNED = {
    "one row too few": (np.zeros((1, 3)), r"shape \(1, 3\) for a batch of 2"),
    "one row too many": (np.zeros((3, 3)), r"shape \(3, 3\) for a batch of 2"),
    "one axis": (np.zeros(2), r"shape \(2,\) for a batch of 2"),
    "three axes": (np.zeros((2, 3, 1)), r"shape \(2, 3, 1\)"),
    "no columns": (np.zeros((2, 0)), r"shape \(2, 0\)"),
    "NaN": ([[0.0], [float("nan")]], "NaN or infinity"),
    "infinity": ([[0.0], [-float("inf")]], "NaN or infinity"),
    "words": ([["a"], ["b"]], "make it return numbers"),
    "objects": (np.array([[None], [1]]), "make it return numbers"),
    "complex numbers": ([[1j], [2j]], "make it return numbers"),
    "nothing": (None, "make it return numbers"),
    "ragged": ([[1.0], [2.0, 3.0]], "did not return an array"),
    "too large": ([[1e16], [0.0]], "too large for rows of float32"),
}


@pytest.mark.parametrize(("returned", "sentence"), RETURNED.values(), ids=RETURNED)
def test_what_are_not_rows_is_refused_in_a_sentence(returned, sentence):
    with pytest.raises(InvalidInputError, match=sentence) as caught:
        Encoder(lambda _: returned).transform(["x", "y"])
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_an_answer_that_refuses_to_be_an_array_is_refused():
    class OnTheDevice:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("It is on the graphics card.\nMove it.")

    with pytest.raises(InvalidInputError, match=r"\(It is on the graphics card\); make it"):
        Encoder(lambda _: OnTheDevice()).transform(["x"])


def test_a_batch_without_a_length_is_refused():
    with pytest.raises(InvalidInputError, match="A batch has a length, but got generator"):
        Encoder(lengths).transform(word for word in "abc")


@pytest.mark.parametrize("function", [None, 3, "scattering", np.zeros(3)])
def test_what_cannot_be_called_is_refused(function):
    with pytest.raises(InvalidInputError, match="cannot be called"):
        Encoder(function)


@pytest.mark.parametrize("name", ["", 3, b"net"])
def test_a_name_that_is_no_word_is_refused(name):
    with pytest.raises(InvalidInputError, match="name is"):
        Encoder(lengths, name)


def test_a_name_stands_for_the_function():
    assert Encoder(lengths, "net").fingerprint == Encoder(Nameless(), "net").fingerprint
    assert Encoder(lengths, "net").fingerprint != Encoder(lengths, "net2").fingerprint
    assert Encoder(lengths, "net").fingerprint.startswith("encoder:net-1-")


def test_a_fingerprint_of_its_own_is_believed():
    assert Encoder(Network("v1")).fingerprint == Encoder(Network("v1")).fingerprint
    assert Encoder(Network("v1")).fingerprint != Encoder(Network("v2")).fingerprint
    assert Encoder(Network("v1"), "net").fingerprint == Encoder(lengths, "net").fingerprint


def test_functions_are_told_apart_by_what_they_are_compiled_to():
    def scaled(factor, power=1):
        return lambda batch, power=power: np.array(batch) ** power * factor

    fingerprints = [
        Encoder(function).fingerprint
        for function in (
            lengths,
            Nameless(),
            Nameless().encode,
            lambda batch: np.array(batch) * 2,
            lambda batch: np.array(batch) * 3,
            lambda batch: np.asarray(batch) * 2,
            lambda batch: [item in {"a", "b"} for item in batch],
            lambda batch: [item in {"a", "c"} for item in batch],
            scaled(2),
            scaled(3),
            scaled(3, power=2),
            partial(lengths),
            np.asarray,
        )
    ]
    assert len(set(fingerprints)) == len(fingerprints)


def test_of_an_enclosed_object_only_the_type_counts():
    def around(thing):
        return lambda _: thing.rows

    assert Encoder(around(object())).fingerprint == Encoder(around(object())).fingerprint
    assert Encoder(around(object())).fingerprint != Encoder(around([])).fingerprint


def test_the_same_function_has_the_same_fingerprint_in_another_process():
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location({__name__!r}, {str(Path(__file__))!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules[spec.name] = module\n"
        "spec.loader.exec_module(module)\n"
        "print(module.Encoder(module.lengths).fingerprint)\n"
        "print(module.Encoder(module.Nameless()).fingerprint)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = f"{Encoder(lengths).fingerprint}\n{Encoder(Nameless()).fingerprint}\n"
    assert outputs == {here}
