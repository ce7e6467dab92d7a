"""Tasks on a Ray cluster; the only module that imports Ray.

Values that are put lie once on each machine, in Ray's store, and are read there without a copy.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayError

from minout.cluster.session import TRIES, Progress, Ref, Session, answer, result_of, task_of
from minout.errors import ClusterError

PATIENCE = 3.0  # seconds to wait for an address


@contextmanager
def connected(address: str | None, on_progress: Progress | None) -> Iterator[Session]:
    """Connect with a cluster, unless this process is connected already; then use that one."""
    is_new = not ray.is_initialized()
    if is_new:
        _connect(address)
    try:
        session = _OnRay(max(int(ray.cluster_resources().get("CPU", 1)), 1), on_progress)
        try:
            yield session
        finally:
            session.close()
    finally:
        if is_new:
            ray.shutdown()


def _connect(address: str | None) -> None:
    _require_answer(address)
    quiet: Any = {"log_to_driver": False, "configure_logging": False, "logging_level": "error"}
    try:
        ray.init(address=address, **quiet)
    except (RayError, ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise ClusterError(f"Ray cannot be reached at {address}: {_first_line(error)}.") from error


def _require_answer(address: str | None) -> None:
    # Ray itself would try for minutes.
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ClusterError(
            f"No Ray answers at {address} ({error}); start one with `ray start --head`, or leave "
            "the address out."
        ) from error


class _OnRay(Session):
    def __init__(self, workers: int, on_progress: Progress | None) -> None:
        super().__init__(workers, on_progress)
        self._answer = ray.remote(num_cpus=1, max_retries=TRIES - 1)(answer)
        self._open: dict[Any, Any] = {}

    def put(self, value: Any) -> Any:
        sizes: list[int] = []
        dumps = ray.cloudpickle.dumps
        first = dumps(
            value, protocol=5, buffer_callback=lambda each: sizes.append(each.raw().nbytes)
        )
        self.moved += len(first) + sum(sizes)
        return ray.put(value)

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        values = [each for each in args if isinstance(each, ray.ObjectRef)]
        named = [Ref(values.index(e)) if isinstance(e, ray.ObjectRef) else e for e in args]
        job = task_of(function, named)
        self.moved += len(job)
        task = self._answer.remote(job, *values)
        self._open[task] = None
        return task

    def get(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        numbers = {task: number for number, task in enumerate(tasks)}
        waiting = list(tasks)
        while waiting:
            done, waiting = ray.wait(waiting)
            for task in done:
                self._open.pop(task, None)
                try:
                    answered = ray.get(task)
                except RayError as error:
                    raise ClusterError(
                        f"Ray could not do a task, though it was begun up to {TRIES} times: "
                        f"{_first_line(error)}."
                    ) from error
                self.moved += len(answered)
                yield numbers[task], result_of(answered)

    def close(self) -> None:
        """End the tasks that nobody waits for any more."""
        for task in self._open:
            ray.cancel(task, force=True)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
