"""Who may do the work: the base of all executors, one thread, and Ray."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from minout import kernels
from minout.cluster.session import Progress, Session
from minout.errors import import_extra


class Executor(ABC):
    """Whoever computes what can be divided; see `Serial`, `Local` and `Ray`.

    Parameters
    ----------
    on_progress : callable, optional
        Called with the share of a round that is done, and a text with the round, what is done and
        how many bytes were moved.
    """

    def __init__(self, *, on_progress: Progress | None = None) -> None:
        self.on_progress = on_progress

    @abstractmethod
    def open(self) -> AbstractContextManager[Session]:
        """Start the workers; they end with the `with` block.

        Returns
        -------
        context manager
            Its value has `put`, `submit` and `get`.
        """


class Serial(Executor):
    """One thread of this process: what the others are compared with.

    Parameters
    ----------
    on_progress : callable, optional
        See `Executor`.

    Examples
    --------
    >>> from minout import Learner
    >>> from minout.cluster import Serial
    >>> learner = Learner()
    >>> reports = learner.teach_many([[0.0], [1.0]], ["low", "high"])
    >>> done = learner.consolidate(Serial())
    """

    @contextmanager
    def open(self) -> Iterator[Session]:
        """Compute in this thread alone."""
        with kernels.alone():
            yield _Serial(1, self.on_progress)


class _Serial(Session):
    def put(self, value: Any) -> Any:
        return _Put(value)

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        return function, [each.value if isinstance(each, _Put) else each for each in args]

    def get(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        return ((n, function(*args)) for n, (function, args) in enumerate(tasks))


class _Put:
    def __init__(self, value: Any) -> None:
        self.value = value


class Ray(Executor):
    """A Ray cluster; `pip install minout[ray]`, there and here.

    Parameters
    ----------
    address : str, optional
        "HOST:PORT", "ray://HOST:PORT", or "auto" for the cluster that this machine belongs to. By
        default Ray decides: the cluster that this process is connected with already, or one on
        this machine that ends with the work.
    on_progress : callable, optional
        See `Executor`.
    """

    def __init__(self, address: str | None = None, *, on_progress: Progress | None = None) -> None:
        super().__init__(on_progress=on_progress)
        self.address = address

    @contextmanager
    def open(self) -> Iterator[Session]:
        """Connect with the cluster."""
        module = import_extra("minout.cluster.on_ray", "ray", "The executor `Ray` needs Ray")
        with module.connected(self.address, self.on_progress) as session:
            yield session
