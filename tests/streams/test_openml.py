"""MNIST from OpenML, with OpenML played by a stand-in."""

import http.client
import urllib.error
import warnings

import numpy as np
import pytest
import sklearn.datasets

from minout.errors import MissingDataError
from minout.streams import mnist_openml, openml


@pytest.fixture
def asked(monkeypatch):
    """OpenML sends 70,000 images of 1 × 2 pixels; returns how it was asked."""
    calls = []

    def fetch(name, **options):
        calls.append((name, options))
        numbers = np.arange(70_000)
        return np.stack([numbers % 256, numbers % 7], axis=1), (numbers % 10).astype(str)

    monkeypatch.setattr(openml, "IMAGE_SHAPE", (1, 2))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return calls


def test_openml_is_split_after_60000_images(asked):
    data = mnist_openml()
    assert data.rows.shape == (60_000, 2)
    assert data.test_rows.shape == (10_000, 2)
    assert data.rows[300].tolist() == [44 / 256, 6 / 256]
    assert data.test_rows[0].tolist() == [60_000 % 256 / 256, 60_000 % 7 / 256]
    assert data.labels[59_999] == 9
    assert data.test_labels[:3].tolist() == [0, 1, 2]
    assert data.labels.dtype == data.test_labels.dtype == np.int64
    assert data.rows.dtype == np.float64
    assert data.test_rows.flags.c_contiguous


def test_openml_is_asked_for_version_1_without_frames(asked):
    mnist_openml()
    ((name, options),) = asked
    assert name == "mnist_784"
    assert options["version"] == 1
    assert options["as_frame"] is False
    assert options["parser"] == "pandas"


def test_without_pandas_the_other_parser_is_used(asked, monkeypatch):
    monkeypatch.setattr(openml, "find_spec", lambda _: None)
    mnist_openml()
    assert asked[0][1]["parser"] == "liac-arff"


@pytest.mark.parametrize(
    "fault",
    [
        urllib.error.URLError("Name or service not known"),
        http.client.IncompleteRead(b""),
        ValueError("md5 checksum of local file does not match"),
        EOFError(),
        TimeoutError("timed out"),
    ],
)
def test_no_internet_names_the_two_other_sources(monkeypatch, capsys, fault):
    def fetch(*args, **options):
        warnings.warn("A network error occurred while downloading x. Retrying...", stacklevel=1)
        raise fault

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(MissingDataError, match=r'"sample".* or a folder of IDX files') as caught:
        mnist_openml()
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().out == ""


def test_other_warnings_of_scikit_learn_are_heard(monkeypatch):
    def fetch(*args, **options):
        warnings.warn("Version 1 of dataset mnist_784 is inactive", stacklevel=1)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(UserWarning, match="inactive"):
        mnist_openml()


@pytest.mark.parametrize("shape", [(70_000, 3), (69_999, 784), (0, 784), (5,)])
def test_another_data_set_from_openml_is_refused(monkeypatch, shape):
    sent = np.zeros(shape), np.full(shape[0], "1")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: sent)
    with pytest.raises(MissingDataError, match="70,000 of 784 pixels"):
        mnist_openml()


def test_openml_labels_that_are_no_numbers_are_refused(monkeypatch):
    sent = np.zeros((70_000, 1)), np.full(70_000, "cat")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: sent)
    with pytest.raises(MissingDataError, match="could not be fetched"):
        mnist_openml()
