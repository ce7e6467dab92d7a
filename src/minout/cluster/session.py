"""What all executors have in common: put a value, submit a task, get results; and how tasks run.

A task is a pure function and its arguments. It travels as bytes, with the fingerprint of the
process that sends it: a worker with another one refuses the task.
"""

import hashlib
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from minout import kernels
from minout._version import __version__
from minout.errors import ClusterError, InvalidInputError, MinoutError

PARTS = 4  # tasks per worker: enough that those who are done early help the others
TRIES = 3  # so often a task is begun that ends its worker

Progress = Callable[[float, str], None]


class Ref(NamedTuple):
    """The place of a value among the arguments of a task: the number of the value there."""

    number: int


class Session(ABC):
    """Workers that have been started. `put`, `submit` and `get` are what an executor has to do."""

    def __init__(self, workers: int, on_progress: Progress | None = None) -> None:
        self.parts, self.moved, self._rounds = PARTS * workers, 0, 0
        self._on_progress = on_progress or (lambda _fraction, _text: None)
        self._known: dict[Any, tuple[Any, Any]] = {}

    @abstractmethod
    def put(self, value: Any) -> Any:
        """Give a value to all workers; pass what is returned to `submit` in its place."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Begin `function(*args)`, which must be pure: it may be computed more than once."""

    @abstractmethod
    def get(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each task and its result, in any order; raise what a task raised."""

    def each(
        self, function: Callable[..., Any], shared: tuple[Any, ...], items: Sequence[Any], what: str
    ) -> Iterator[Any]:
        """Yield `function(*shared, item)` for each item, in their order: see `core.Work`."""
        refs = self._put_once(shared)
        count = min(self.parts, len(items))
        ends = [len(items) * n // count for n in range(count + 1)] if count else [0]
        groups = [items[start:end] for start, end in pairwise(ends)]
        tasks = [self.submit(partial(_several, function), *refs, group) for group in groups]
        sizes = [sum(map(len, group)) for group in groups]
        self._rounds += 1
        return chain.from_iterable(self._in_order(tasks, sizes, what))

    def _in_order(self, tasks: list[Any], sizes: list[int], what: str) -> Iterator[list[Any]]:
        found: dict[int, list[Any]] = {}
        done, following = 0, 0
        self._say(0, sum(sizes), what)
        for number, results in self.get(tasks):
            found[number] = results
            done += sizes[number]
            self._say(done, sum(sizes), what)
            while following in found:
                yield found.pop(following)
                following += 1

    def _say(self, done: int, of: int, what: str) -> None:
        text = f"round {self._rounds}: {done:,} of {of:,} {what}, {self.moved / 1e6:,.0f} MB moved"
        self._on_progress(done / max(of, 1), text)

    def _put_once(self, values: tuple[Any, ...]) -> list[Any]:
        # What stands for values; those that are not used any more are dropped.
        keys = [_key(value) for value in values]
        self._known = {key: each for key, each in self._known.items() if key in keys}
        for key, value in zip(keys, values, strict=True):
            if key not in self._known:
                self._known[key] = value, self.put(value)  # while it is held, its key is its own
        return [self._known[key][1] for key in keys]


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray):  # a view of the same numbers is the same value
        return value.__array_interface__["data"][0], value.shape, value.strides, value.dtype.str
    return getattr(value, "key", id(value))


def _several(function: Callable[..., Any], *args: Any) -> list[Any]:
    *shared, items = args
    return [function(*shared, item) for item in items]


def task_of(function: Callable[..., Any], args: Sequence[Any]) -> bytes:
    """Return a task as bytes."""
    try:
        return pickle.dumps((fingerprint(), pickle.dumps((function, args), protocol=5)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ClusterError(f"This cannot be sent to another process: {error}.") from error


def answer(task: bytes, *values: Any) -> bytes:
    """Run a task in a worker; `values` are those that were put, in the order of their numbers."""
    expected, body = pickle.loads(task)
    if fingerprint() != expected:
        return pickle.dumps(("another", fingerprint()))
    try:
        function, args = pickle.loads(body)
    except (AttributeError, ImportError) as error:
        return cannot_load(error)
    filled = [values[each.number] if isinstance(each, Ref) else each for each in args]
    try:
        with kernels.alone(), kernels.one_blas_thread():
            return pickle.dumps(("done", function(*filled)), protocol=5)
    except Exception as error:  # it is raised again where the task came from
        return pickle.dumps(("failed", _sendable(error)))


def _sendable(error: Exception) -> Exception:
    # The error, or one of a class of its bases if it cannot be made again from its arguments.
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class raises when it is made
        bases = (InvalidInputError, MinoutError, RuntimeError)
        kind = next((each for each in bases if isinstance(error, each)), RuntimeError)
        return kind(str(error))
    return error


def cannot_load(error: Exception) -> bytes:
    """Return the answer of a worker that lacks a module or a class."""
    return pickle.dumps(("lacking", str(error)))


def result_of(answered: bytes) -> Any:
    """Return the result in an answer, or raise its error."""
    kind, found = pickle.loads(answered)
    if kind == "another":
        raise ClusterError(
            f"A worker would compute other bits ({found} there, {fingerprint()} here); install the "
            "same minout, NumPy and SciPy everywhere, on processors of one kind."
        )
    if kind == "lacking":
        raise ClusterError(
            f"A worker cannot load what it needs ({found}); if it is your own codec, define it in "
            "a module that workers can import."
        )
    if kind == "failed":
        raise found
    return found


@cache
def fingerprint() -> str:
    """Return the version and a digest of what is computed: workers must have the same.

    Sums in the kernels' order are the same with every build of them. BLAS may round differently on
    another processor, so it is included.
    """
    A = np.sin(np.arange(96.0 * 96.0)).reshape(96, 96)
    with kernels.one_blas_thread():
        found = [kernels.product(A, A), A @ A.T, np.linalg.cholesky(A @ A.T + np.eye(96))]
    parts = (np.ascontiguousarray(each).tobytes() for each in found)
    return f"minout {__version__} {hashlib.sha256(b''.join(parts)).hexdigest()[:12]}"
