"""Damaged and forged copies are noticed or harmless; `benchmarks store` tries thousands."""

import ctypes
import shutil
import time

import numpy as np
import pytest

from faults import database_content, forge, trial
from faults.copies import copies
from faults.forms import FOLDER, FORMS, ONE_FILE, remove
from faults.models import MODELS, questions
from faults.trial import BAD, EARLIER, IDENTICAL, NOTICED, PLAUSIBLE, Copy, Trials, counted
from minout import Learner
from minout.errors import InvalidInputError, MissingDataError
from minout.upkeep import read_log
from oracle.margin import differs
from oracle.margin import saved as bits

PER_MODEL = {"file": 28, "folder": 12}
IN_FOLDERS = ("far", "window", "weights")
TRIED = [
    *(("file", name) for name in MODELS),
    *(("folder", name) for name in IN_FOLDERS),
]
SEED = 20


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, make in MODELS.items():
        make().save(folder / name)
    return folder


@pytest.fixture(scope="module")
def stored(tmp_path_factory, saved):
    """Return a function that gives the path of a model in a form."""
    folder = tmp_path_factory.mktemp("folders")

    def path(form, name):
        if form is ONE_FILE:
            return saved / name
        if not (folder / name).exists():
            form.store(MODELS[name](), folder / name, questions(name))
        return folder / name

    return path


@pytest.mark.parametrize(("form", "name"), TRIED, ids=["-".join(each) for each in TRIED])
def test_a_copy_is_noticed_identical_or_another_model(stored, tmp_path, form, name):
    form, count, verdicts = FORMS[form], PER_MODEL[form], []
    source = stored(form, name)
    with Trials(form, source, questions(name), seconds=60.0) as trials:
        for copy in copies(source, tmp_path, count, SEED, form=form):
            verdict = trials.of(copy)
            assert verdict.word != BAD, (copy, verdict)
            right = (NOTICED, IDENTICAL, *[EARLIER] * copy.may_be_earlier)
            assert copy.is_forged or verdict.word in right
            verdicts.append(verdict)
            remove(copy)
    found = counted(verdicts)
    assert found[NOTICED] > count / 3
    assert found[IDENTICAL] > 0


BOMBS = [*forge.BOMBS, "overlapping", "deflated", "many_members", "other_json"]


@pytest.mark.parametrize("kind", BOMBS)
def test_a_small_file_takes_little_memory(saved, tmp_path, kind):
    with Trials(ONE_FILE, saved / "plain", questions("plain"), seconds=60.0) as trials:
        _try_bombs(ONE_FILE, saved / "plain", tmp_path, kind, trials)


def test_a_small_folder_takes_little_memory(stored, tmp_path):
    source = stored(FOLDER, "plain")
    with Trials(FOLDER, source, questions("plain"), seconds=60.0) as trials:
        for kind in (*FOLDER.bombs, "repeated_pages", "lying_header", "other_json"):
            _try_bombs(FOLDER, source, tmp_path, kind, trials)


def _try_bombs(form, source, folder, kind, trials):
    about, arrays = form.read(source)
    for seed in range(2):
        rng, path = np.random.default_rng(seed), folder / f"{kind}{seed}"
        if kind in form.bombs:
            facts, changed, what = forge.forge(about, arrays, form.bombs[kind], rng)
            assert what is not None
            form.write(path, facts, changed)
        else:
            form.containers[kind](about, arrays, path, rng)
        verdict = trials.of(Copy(kind, "", path, is_forged=True))
        assert verdict.word != BAD, (kind, verdict)


@pytest.mark.parametrize("name", MODELS)
def test_content_that_is_written_as_it_was_read_is_the_same_model(tmp_path, name):
    learner = MODELS[name]()
    learner.store_in(tmp_path / "model")
    learner.close()
    database_content.write(tmp_path / "copy", *database_content.read(tmp_path / "model"))
    copy = Learner.open(tmp_path / "copy", read_only=True)
    assert differs(bits(copy), bits(learner)) == []
    assert [each.moved for each in read_log(tmp_path / "copy")] == [
        each.moved for each in read_log(tmp_path / "model")
    ]


def test_a_folder_without_its_log_is_an_earlier_state(stored, tmp_path):
    source = stored(FOLDER, "plain")
    shutil.copytree(source, tmp_path / "copy")
    (tmp_path / "copy" / "model.sqlite-wal").unlink()
    found = {}
    with Trials(FOLDER, source, questions("plain")) as trials:
        for change in ("model.sqlite-wal", "model.sqlite"):
            verdict = trials.of(Copy("missing", change, tmp_path / "copy", is_forged=False))
            found[change] = verdict.word
    assert found == {"model.sqlite-wal": EARLIER, "model.sqlite": BAD}


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
