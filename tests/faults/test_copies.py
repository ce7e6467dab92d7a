"""Damaged and forged copies are noticed or harmless; `benchmarks store` tries thousands."""

import ctypes
import time

import numpy as np
import pytest

from faults import forge, forge_archive, trial
from faults.copies import ONE_FILE, copies
from faults.models import MODELS, questions
from faults.trial import BAD, IDENTICAL, NOTICED, PLAUSIBLE, Copy, Trials, counted
from minout.errors import InvalidInputError, MissingDataError

PER_MODEL = 28
SEED = 20


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, make in MODELS.items():
        make().save(folder / name)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_a_copy_is_noticed_identical_or_another_model(saved, tmp_path, name):
    verdicts = []
    with Trials(ONE_FILE, saved / name, questions(name), seconds=60.0) as trials:
        for copy in copies(saved / name, tmp_path, PER_MODEL, SEED):
            verdict = trials.of(copy)
            assert verdict.word != BAD, (copy, verdict)
            assert copy.is_forged or verdict.word in (NOTICED, IDENTICAL)
            verdicts.append(verdict)
            copy.path.unlink()
    found = counted(verdicts)
    assert found[NOTICED] > PER_MODEL / 3
    assert found[IDENTICAL] > 0


BOMBS = [*forge.BOMBS, "overlapping", "deflated", "many_members", "other_json"]


@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_takes_little_memory(saved, tmp_path, kind):
    source = saved / "plain"
    about, arrays = ONE_FILE.read(source)
    with Trials(ONE_FILE, source, questions("plain"), seconds=60.0) as trials:
        for seed in range(2):
            rng, path = np.random.default_rng(seed), tmp_path / "copy"
            if kind in forge.BOMBS:
                facts, changed, what = forge.forge(about, arrays, kind, rng)
                assert what is not None
                ONE_FILE.write(path, facts, changed)
            else:
                forge_archive.KINDS[kind](about, arrays, path, rng)
            verdict = trials.of(Copy(kind, "", path, is_forged=True))
            assert verdict.word != BAD, verdict


def _crash(*_):
    ctypes.string_at(0)


def _hang(*_):
    time.sleep(600.0)


def _memory(*_):
    np.ones(20_000_000)
    raise MissingDataError("The file is damaged.")


def _too_large(*_):
    try:
        np.ones(2**50)
    except MemoryError as error:
        raise MissingDataError("The file is damaged.") from error


def _raw(*_):
    raise KeyError("rows")


def _words(*_):
    raise InvalidInputError("a word\nand another")


def _exit(*_):
    trial.os._exit(77)


FAULTS = {
    "crash": (_crash, "crash"),
    "exit": (_exit, "crash: exit code 77"),
    "hang": (_hang, "hang"),
    "memory": (_memory, "memory: 1"),
    "too large": (_too_large, "memory: an allocation"),
    "raw": (_raw, "KeyError"),
    "words": (_words, "no sentence"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_the_next_copy_is_opened(saved, fault):
    broken, why = FAULTS[fault]
    form = ONE_FILE._replace(
        open=lambda path: broken() if path.name == "broken" else ONE_FILE.open(path)
    )
    source = saved / "plain"
    (saved / "broken").write_bytes(source.read_bytes())
    seconds = 4.0 if fault == "hang" else 60.0
    with Trials(form, source, questions("plain"), seconds=seconds) as trials:
        found = [
            trials.of(Copy("same", "", saved / name, is_forged=forged))
            for name, forged in (("broken", True), ("plain", False), ("plain", True))
        ]
    assert [each.word for each in found] == [BAD, IDENTICAL, IDENTICAL]
    assert found[0].why.startswith(why)


def test_another_answer_is_wrong_unless_a_forger_wrote_another_model(saved, tmp_path):
    source, other = saved / "plain", MODELS["plain"]()
    other.teach([0.0, 0.5, 0.0], "c1", at=1_700_000_000.0)
    other.save(tmp_path / "other")
    with Trials(ONE_FILE, source, questions("plain")) as trials:
        found = [
            trials.of(Copy("other", "", tmp_path / "other", is_forged=forged))
            for forged in (False, True)
        ]
        about, arrays = ONE_FILE.read(source)
        ONE_FILE.write(tmp_path / "moved", about, {**arrays, "W": 1.5 * arrays["W"]})
        found.append(trials.of(Copy("moved", "", tmp_path / "moved", is_forged=True)))
    assert [each.word for each in found] == [BAD, PLAUSIBLE, PLAUSIBLE]
    assert found[0].why == "wrong answers"
    assert found[1].why == "a valid other model"
    assert found[2].why.startswith("audit: The separator of")
