"""What tests of executors share: a Ray cluster of two nodes, and an executor in any order."""

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from minout.cluster import Executor, Local, Ray, Serial
from minout.cluster.session import Ref, Session, answer, result_of, task_of


class Shuffled(Executor):
    """Tasks that travel as bytes, and come back in a random order; some are computed twice."""

    def __init__(self, parts, seed):
        super().__init__()
        self.parts, self.seed, self.tasks, self.puts = parts, seed, 0, []

    @contextmanager
    def open(self):
        session = _Shuffled(1)
        session.parts, session.rng, session.owner = (
            self.parts,
            np.random.default_rng(self.seed),
            self,
        )
        yield session


class _Shuffled(Session):
    def put(self, value):
        self.owner.puts.append(value)
        return [value]

    def submit(self, function, *args):
        values = [each[0] for each in args[:-1]]
        self.owner.tasks += 1
        named = [*map(Ref, range(len(values))), args[-1]]
        return task_of(function, named), values

    def get(self, tasks):
        for n in self.rng.permutation(len(tasks)).tolist():
            job, values = tasks[n]
            if self.rng.random() < 0.2:
                answer(job, *values)
            yield n, result_of(answer(job, *values))


@pytest.fixture(scope="session")
def two_nodes():
    """Start Ray with two nodes of one processor each, and connect with it."""
    ray = pytest.importorskip("ray", reason="Ray cannot be imported here")
    from ray.cluster_utils import Cluster

    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    try:
        cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
        yield cluster
        ray.shutdown()
    finally:
        cluster.shutdown()


EXECUTORS = {"serial": Serial, "local": lambda **more: Local(2, **more), "ray": Ray}


@pytest.fixture(params=EXECUTORS)
def executor(request):
    """Each executor, as a function of its options."""
    if request.param == "ray":
        request.getfixturevalue("two_nodes")
    return EXECUTORS[request.param]


def children():
    """Return the numbers of the processes that this one has started and not waited for."""
    tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
    return {int(each) for task in tasks for each in (task / "children").read_text().split()}
