"""Processes on this machine: each has a socket for tasks, and maps the values that were put.

A value lies in anonymous shared memory (`memfd`), which has no name that could be left over: it is
freed when the last process that holds it ends, however that is. A worker ends with its socket.
"""

import os
import pickle
import socket
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from minout.cluster.executors import Executor
from minout.cluster.session import TRIES, Progress, Ref, Session, result_of, task_of
from minout.errors import ClusterError, InvalidInputError

START = "import sys; sys.path[:] = {}; from minout.cluster.worker import main; main({})"
ALIGNED = 64


class Mapped(NamedTuple):
    """Where a value that was put lies: a file, and the first and last byte of each part of it."""

    file: str
    number: int
    parts: list[tuple[int, int]]


class Local(Executor):
    """Processes on this machine, with one thread each; they share the rows.

    Parameters
    ----------
    workers : int, optional
        How many; by default one for each processor that this process may use.
    on_progress : callable, optional
        See `Executor`.

    Examples
    --------
    >>> from minout import Learner
    >>> from minout.cluster import Local
    >>> learner = Learner()
    >>> reports = learner.teach_many([[0.0], [1.0]], ["low", "high"])
    >>> done = learner.consolidate(Local(2))
    """

    def __init__(self, workers: int | None = None, *, on_progress: Progress | None = None) -> None:
        super().__init__(on_progress=on_progress)
        is_number = isinstance(workers, int) and not isinstance(workers, bool)
        if workers is not None and not (is_number and workers >= 1):
            raise InvalidInputError(f"`workers` must be a whole number from 1, not {workers!r}.")
        self.workers = workers or len(os.sched_getaffinity(0))

    @contextmanager
    def open(self) -> Iterator[Session]:
        """Start the processes."""
        session = _Processes(self.workers, self.on_progress)
        try:
            yield session
        finally:
            session.close()


class _Task(NamedTuple):
    job: bytes
    values: tuple["_Memory", ...]


class _Processes(Session):
    def __init__(self, workers: int, on_progress: Progress | None) -> None:
        super().__init__(workers, on_progress)
        self._workers: list[_Process] = []
        self._puts = 0
        try:
            for number in range(workers):
                self._start(number)
        except BaseException:
            self.close()
            raise

    def put(self, value: Any) -> "_Memory":
        self._puts += 1
        memory = _Memory(value, self._puts)
        self.moved += memory.size
        return memory

    def submit(self, function: Callable[..., Any], *args: Any) -> _Task:
        values = [each for each in args if isinstance(each, _Memory)]
        named = [Ref(values.index(each)) if isinstance(each, _Memory) else each for each in args]
        return _Task(task_of(function, named), tuple(values))

    def get(self, tasks: Sequence[_Task]) -> Iterator[tuple[int, Any]]:
        waiting = deque(range(len(tasks)))
        tries = [0] * len(tasks)
        for worker in [each for each in self._workers if each.is_busy]:
            self._replace(worker)  # with what an earlier call did not wait for
        running: dict[_Process, int] = {}
        while waiting or running:
            for worker in self._workers:
                if waiting and worker not in running:
                    number = running[worker] = waiting.popleft()
                    tries[number] += 1
                    self.moved += worker.ask(tasks[number])
            ready = {id(each) for each in wait([worker.link for worker in running])}
            for worker in [each for each in running if id(each.link) in ready]:
                number, answered = running.pop(worker), worker.answer()
                if answered is None:
                    if tries[number] == TRIES:
                        raise ClusterError(
                            f"A task ended its worker process {tries[number]} times (the last time "
                            f"{worker.end()}); perhaps the memory was not enough."
                        )
                    waiting.appendleft(number)
                    self._replace(worker)
                    continue
                self.moved += len(answered)
                yield number, result_of(answered)

    def _replace(self, worker: "_Process") -> None:
        worker.close()
        self._start(self._workers.index(worker))

    def _start(self, number: int) -> None:
        # It is known before it begins: `close` ends it, wherever an interruption comes.
        worker = _Process()
        self._workers[number : number + 1] = [worker]
        worker.start()

    def close(self) -> None:
        """End all workers, also in the middle of a task."""
        for worker in self._workers:
            worker.close()


class _Memory:
    """A value in anonymous memory that other processes can map; freed with this object."""

    def __init__(self, value: Any, number: int) -> None:
        buffers: list[pickle.PickleBuffer] = []
        first = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        parts, self.size = [memoryview(first), *(each.raw() for each in buffers)], 0
        file = os.memfd_create("minout")
        weakref.finalize(self, os.close, file)
        spans = []
        for part in parts:
            start, end = self.size, self.size + len(part)
            while self.size < end:
                self.size += os.pwrite(file, part[self.size - start :], self.size)
            spans.append((start, end))
            self.size = -(-end // ALIGNED) * ALIGNED
        self.mapped = Mapped(f"/proc/{os.getpid()}/fd/{file}", number, spans)


class _Process:
    def __init__(self) -> None:
        mine, self._theirs = socket.socketpair()
        self.link = Connection(mine.detach())
        self._process: subprocess.Popen[bytes] | None = None
        self.is_busy = False

    def start(self) -> None:
        """Start the process, which ends when `link` is closed."""
        with self._theirs as theirs:
            code = START.format(repr(sys.path), theirs.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C is for the process that asks
            )

    def ask(self, task: _Task) -> int:
        """Send a task; return how many bytes it has."""
        message = pickle.dumps((task.job, [each.mapped for each in task.values]))
        self.is_busy = True
        with suppress(OSError):  # if it has ended, `answer` says so
            self.link.send_bytes(message)
        return len(message)

    def answer(self) -> bytes | None:
        """Return the answer; None if the process has ended."""
        try:
            found = self.link.recv_bytes()
        except (EOFError, OSError):
            return None
        self.is_busy = False
        return found

    def end(self) -> str:
        """Return how the process has ended."""
        assert self._process is not None
        code = self._process.wait()
        return f"by signal {-code}" if code < 0 else f"with exit code {code}"

    def close(self) -> None:
        """End the process."""
        self.link.close()
        self._theirs.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
