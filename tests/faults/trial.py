"""Open copies of a model in child processes, and say what came of each.

A copy is opened by a child with limits on time and memory, which stays for the next copy unless it
died. A verdict is one of these:

noticed
    Opening it, or a call after that, raised MissingDataError or InvalidInputError with a message of
    one sentence.
identical
    Predictions, scores, ids and misfits, and the same once more after one example is taught and one
    forgotten, are those of the undamaged model, bit for bit.
earlier
    Only for copies whose write-ahead log is damaged, or of which a whole file is an earlier one: it
    is a state that was committed earlier. SQLite cannot tell such a log from that of a process that
    was killed before its last commit, and nobody an earlier model from a restored one.
plausible
    Only for forgeries, whose checksums are right. Answers differ, and either `audit()` lists
    differences, or the content is a valid other model: the audit finds nothing, and after
    `consolidate()` the copy has the same bits as a new learner with its settings that is taught its
    examples and consolidated. What a forger may write into any model, no reader can find.
bad
    Anything else: a crash, a hang, another exception, too much memory, wrong answers.
"""

import faulthandler
import gc
import hashlib
import os
import pickle
import re
import resource
import signal
import struct
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from select import select
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from minout import Learner
from minout.errors import InvalidInputError, MinoutError, MissingDataError
from minout.kernels.warmup import warm_up

NOTICED, IDENTICAL, EARLIER = "noticed", "identical", "earlier"
PLAUSIBLE, BAD = "plausible", "bad"
SECONDS = 20.0
"""A copy that takes longer hangs."""
MORE_MEMORY = 32_000_000
"""Bytes that any copy may take beyond twice those of the undamaged model …"""
PER_BYTE = 8
"""… and for each byte by which it is larger."""
LIMIT = 1_500_000_000
"""The bytes that a child can allocate at all."""
SENTENCE = re.compile(r"[A-Z/`x].*[.]", re.DOTALL)
LONGEST = 600


class Form(NamedTuple):
    """A form in which models are stored, a file or a folder, and what can be done to it.

    `store(learner, path, rows)` stores a learner; for a folder it teaches some of the rows, so that
    there are earlier states, whose paths are `earlier(path)`. `read(path)` returns metadata and
    arrays; `write(path, about, arrays)` stores them with right checksums; `open(path)` returns a
    learner, and leaves the path as it is. `damage(source, target, rng)` makes a damaged copy and
    says how, and which file. `forgeries` and `bombs` are kinds of changed content (see `forge.py`);
    `containers` of a changed form: `call(about, arrays, path, rng)` writes one.

    Each of `upkeep` is called with the paths of some copies, and must end with a result or an error
    with one sentence. `errors` are those with which damage may be noticed.
    """

    name: str
    store: Callable[[Learner, Path, Any], None]
    read: Callable[[Path], tuple[dict[str, Any], dict[str, Any]]]
    write: Callable[[Path, dict[str, Any], dict[str, Any]], None]
    open: Callable[[Path], Learner]
    damage: Callable[..., tuple[str, str]]
    forgeries: dict[str, Callable[..., Any]]
    bombs: dict[str, Callable[..., Any]]
    containers: dict[str, Callable[..., Any]]
    earlier: Callable[[Path], list[Path]] = lambda _: []
    upkeep: tuple[tuple[str, Callable[[Path], Any]], ...] = ()
    errors: tuple[type[Exception], ...] = (MissingDataError, InvalidInputError)


class Copy(NamedTuple):
    """A copy of a model: its kind, what was changed, where it is, and whether it is a forgery.

    What is changed in a damaged copy is a file.
    """

    kind: str
    change: str
    path: Path
    is_forged: bool

    @property
    def may_be_earlier(self) -> bool:
        """Whether an earlier state is right; see the top of this module."""
        is_older = self.change.endswith("-wal") or self.kind.endswith("older_file")
        return is_older and not self.is_forged


class Verdict(NamedTuple):
    """What came of a copy: one of the five words, why, and the bytes and seconds that it took."""

    word: str
    why: str = ""
    memory: int = 0
    seconds: float = 0.0


class Good(NamedTuple):
    """What the undamaged model answers, and in earlier states, and the memory that it takes."""

    answers: bytes
    memory: int
    size: int
    earlier: frozenset[bytes] = frozenset()


def answers(learner, rows):
    """Return a digest of what a model says, and says after it was changed; the default question."""
    digest = hashlib.sha256()

    def note(*parts):
        for part in parts:
            digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())

    def ask():
        note(learner.predict(rows).astype(str), learner.scores(rows), learner.misfits)
        note(learner.pending, learner.ids, learner.classes.astype(str), learner.corrected)

    ask()
    label = learner.classes.tolist()[0]
    learner.teach(rows[1], label, id="one more", at=1_700_000_100.0)
    ask()
    learner.forget(learner.ids[0])
    ask()
    return digest.digest()


class Trials:
    """Children that open copies of one model in one form.

    Parameters
    ----------
    form : Form
        How to open a copy.
    path : Path
        The undamaged model.
    rows : ndarray of shape (n, d)
        Rows to ask about.
    ask : callable
        `ask(learner, rows)` returns bytes that are the same for models that are the same.
    """

    def __init__(self, form, path, rows, ask=answers, *, seconds=SECONDS):
        self._form, self._rows, self._ask, self._seconds = form, rows, ask, seconds
        self._child = None
        self._good = None
        _warm_up(form, path, rows, ask)
        for _ in range(2):  # the first fills the heap
            verdict, found = self._of_undamaged(path)
        earlier = frozenset(self._of_undamaged(each)[1] for each in form.earlier(path))
        self._good = Good(found, verdict.memory, _size(path), earlier)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def of(self, copy):
        """Return the verdict on a copy."""
        return self._asked(copy)[0]

    def _of_undamaged(self, path):
        verdict, found = self._asked(Copy("undamaged", "", path, is_forged=False))
        if found is None or verdict.word == BAD:
            raise AssertionError(f"The undamaged model is {verdict}")
        return verdict, found

    def _asked(self, copy):
        if self._child is None:
            self._child = _Child(lambda job: _trial(self._form, self._rows, self._ask, *job))
        job = (copy, self._good)
        start = time.perf_counter()
        reply = self._child.ask(job, self._seconds)
        seconds = time.perf_counter() - start
        if isinstance(reply, str):
            self._child = None
            return Verdict(BAD, reply, seconds=seconds), None
        verdict, found = reply
        if verdict.word == BAD:
            self._stop()  # a kernel may have written anywhere
        return verdict._replace(seconds=seconds), found

    def _stop(self):
        if self._child is not None:
            self._child.stop()
            self._child = None


def _warm_up(form, path, rows, ask):
    # Compile here what the children use: they are forked, and each would do it again.
    warm_up(lambda *_: None)
    ask(form.open(path), rows)
    _use(form.open(path))
    verdict = _as_taught(form.open(path))
    if verdict.word == BAD:
        raise AssertionError(f"The undamaged model is {verdict}")


def _trial(form, rows, ask, copy, good):
    # In the child: open a copy, ask, and compare. Returns the verdict, and the answers.
    gc.collect()
    before, found = _reset_peak(), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.seterr(all="ignore")
            verdict, found = _opened(form, rows, ask, copy, good)
    except form.errors as error:
        verdict = _refused(error)
    except Exception as error:
        verdict = _raw(error)
    for name, call in _drawn(form.upkeep, copy) if verdict.word != BAD else ():
        wrong = _kept_up(call, copy.path)
        if wrong is not None:
            verdict = wrong._replace(why=f"{name}: {wrong.why}")
            break
    memory = max(_peak() - before, 0)
    if good is not None and verdict.word != BAD:
        larger = max(_size(copy.path) - good.size, 0)
        if memory > 2 * good.memory + MORE_MEMORY + PER_BYTE * larger:
            verdict = Verdict(BAD, f"memory: {memory / 1e6:.0f} MB, then {verdict.word}")
    return verdict._replace(memory=memory), found


def _drawn(upkeep, copy):
    # Two of the calls, always the same ones for the same copy; all would take long.
    start = crc32(f"{copy.kind} {copy.path.name}".encode())
    return [
        upkeep[(start + n * len(upkeep) // 2) % len(upkeep)] for n in range(min(len(upkeep), 2))
    ]


def _raw(error):
    return Verdict(BAD, f"{type(error).__name__}: {error}"[:200])


def _kept_up(call, path):
    # A verdict if upkeep ends with anything but a result or an error with one sentence.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(path)
    except MinoutError as error:
        verdict = _refused(error)
        return verdict if verdict.word == BAD else None
    except Exception as error:
        return _raw(error)
    return None


def _opened(form, rows, ask, copy, good):
    learner, path = form.open(copy.path), copy.path
    if not copy.is_forged:
        found = ask(learner, rows)
        return _compared(found, copy, good), found
    try:
        found = ask(learner, rows)
    except form.errors as error:
        verdict, found = _refused(error), None
        if verdict.word == BAD:
            return verdict, None
    if found == good.answers:
        return Verdict(IDENTICAL), found
    other = form.open(path)
    differences = other.audit().differences if len(other) else ()
    if differences:
        _use(other)
        return Verdict(PLAUSIBLE, f"audit: {differences[0]}"), found
    if found is None:
        return verdict, None
    return _as_taught(other), found


def _compared(found, copy, good):
    if good is None or found == good.answers:
        return Verdict(IDENTICAL)
    if copy.may_be_earlier and found in good.earlier:
        return Verdict(EARLIER)
    return Verdict(BAD, "wrong answers")


def _use(learner):
    # Whatever its numbers are, calls must end with a result or a sentence.
    rows = np.zeros((1, learner.example(learner.ids[0])[0].shape[0]))
    for call in (
        learner.settle,
        learner.consolidate,
        lambda: learner.suspects(3),
        learner.expected_accuracy,
        lambda: learner.explain(rows[0]),
        lambda: learner.what_if(rows[0], learner.classes.tolist()[0]),
        lambda: learner.probabilities(rows),
    ):
        try:
            call()
        except MinoutError:
            continue


def _as_taught(learner):
    # Whether a copy is a valid other model; see the top of this module.
    fresh = _taught_again(learner)
    learner.consolidate()
    fresh.consolidate()
    if _state(learner) == _state(fresh):
        return Verdict(PLAUSIBLE, "a valid other model")
    return Verdict(BAD, "wrong answers: the audit finds nothing, but it is not what is taught anew")


def _taught_again(learner):
    settings = {name: value for name, value in vars(learner.settings).items() if name != "window"}
    window, blocks = settings.pop("keep"), settings.pop("blocks")
    fresh = Learner(**settings, features=_Stored(learner))
    fresh.set_blocks(blocks)
    times = learner._state.examples.times
    for each in learner.ids:
        row, label = learner.example(each)
        at = float(times[learner._state.place_of[each]])
        fresh.teach(row, label, id=each, weight=learner.weight(each), at=at)
    fresh.set_keep(window)
    return fresh


class _Stored:
    """A feature map that takes rows as they are stored."""

    def __init__(self, learner):
        self.dtype = learner.features.dtype
        self.fingerprint = learner.features.fingerprint

    def transform(self, X):
        return np.asarray(X, dtype=self.dtype)


def _state(learner):
    # The bits of a consolidated model, without what depends on how it came about.
    about, arrays = learner.__getstate__()["about"], learner.__getstate__()["arrays"]
    ours = ("settings", "choice", "ids", "labels")
    plain = {name: about[name] for name in ours}
    return plain, {name: (each.shape, each.tobytes()) for name, each in arrays.items()}


def _refused(error):
    text, cause = str(error), error.__cause__
    while cause is not None:
        if isinstance(cause, MemoryError):
            return Verdict(BAD, "memory: an allocation failed")
        cause = cause.__cause__
    if not SENTENCE.fullmatch(text) or len(text) > LONGEST or "\n" in text:
        return Verdict(BAD, f"no sentence: {text[:200]!r}")
    return Verdict(NOTICED, text)


class _Child:
    """A forked process that answers one job after the other; pickles over two pipes."""

    def __init__(self, work):
        job_read, self._job = os.pipe()
        self._reply, reply_write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # forking with threads is what the engine is made for
            self._pid = os.fork()
        if self._pid == 0:
            code = 1
            try:
                os.close(self._job)
                os.close(self._reply)
                faulthandler.disable()  # a crash is reported by the parent
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                _limit_memory()
                gc.freeze()  # a collection need not look at what was imported
                while (job := _receive(job_read, None)) is not None:
                    _send(reply_write, work(job))
                code = 0
            finally:
                os._exit(code)
        os.close(job_read)
        os.close(reply_write)

    def ask(self, job, seconds):
        """Return the reply, or in words how the child ended; then it is gone."""
        _send(self._job, job)
        reply = _receive(self._reply, seconds)
        if reply is not None:
            return reply
        if select([self._reply], [], [], 0)[0]:  # closed: the child is dead
            status = self._end()
            return f"crash: exit code {status}"
        self._end()
        return f"hang: more than {seconds:.0f} s"

    def stop(self):
        """End the child."""
        self._end()

    def _end(self):
        os.close(self._job)
        os.close(self._reply)
        os.kill(self._pid, signal.SIGKILL)  # no effect on its exit code if it is dead
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _send(pipe, value):
    content = pickle.dumps(value)
    content = struct.pack("<Q", len(content)) + content
    while content:
        content = content[os.write(pipe, content) :]


def _receive(pipe, seconds):
    # A value; None if the other end is closed or the time is over.
    head = _read(pipe, 8, seconds)
    return None if head is None else pickle.loads(_read(pipe, *struct.unpack("<Q", head), 60.0))


def _read(pipe, count, seconds):
    parts = b""
    while len(parts) < count:
        if seconds is not None and not select([pipe], [], [], seconds)[0]:
            return None
        part = os.read(pipe, count - len(parts))
        if not part:
            return None
        parts += part
    return parts


def _limit_memory():
    used = _status("VmData")
    resource.setrlimit(resource.RLIMIT_DATA, (used + LIMIT, used + LIMIT))


def _reset_peak():
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak():
    return _status("VmHWM")


def _status(name):
    lines = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", lines)[1]) * 1024


def _size(path):
    path = Path(path)
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files)


def counted(verdicts):
    """Return how many verdicts there are of each word."""
    found = Counter(verdict.word for verdict in verdicts)
    return {word: found[word] for word in (NOTICED, IDENTICAL, EARLIER, PLAUSIBLE, BAD)}
