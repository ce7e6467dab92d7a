"""`consolidate` by executors: seconds, CPU seconds, and whether the bits are the same."""

import copy
import resource
import time
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.data import Array, Ints, blobs, images, scattering
from benchmarks.measuring import Options, Table
from minout import Learner
from minout.cluster import Executor, Local, Ray, Serial

STRAIGHT = {"regions": 1, "expand": None}


def run(options: Options) -> Iterator[Table]:
    """Yield a table for images, and one for many classes."""
    small = options.small
    data = scattering(images(options, 9 if small else None))
    yield _table("Scattering of images", data.rows, data.labels, {}, with_ray=not small)
    classes, each, width = (12, 6, 8) if small else (300, 200, 384)
    rng = np.random.default_rng(options.seed)
    for near in ("all", 4 if small else 32):
        X, y = blobs(classes, width, 30.0, classes * each, rng)
        more = STRAIGHT | {"lda_prior": True, "near_classes": near}
        title = f"Many classes, near_classes={near!r}"
        yield _table(title, X.astype(np.float32), y, more, with_ray=not small)


def _table(title: str, X: Array, y: Ints, settings: dict, *, with_ray: bool) -> Table:
    learner = Learner(refresh="manual", **settings)
    learner.teach_many(X, y.tolist())
    ways = {"two threads or more": None, "Serial": Serial(), "Local(2)": Local(2)}
    if with_ray and find_spec("ray"):
        ways["Ray"] = Ray()
    rows, scores = [], []
    for name, executor in ways.items():
        twin = copy.deepcopy(learner)
        rows.append((name, *_measured(twin, executor)))
        scores.append(twin.scores(X[:1_000]).tobytes())
    same = "the same scores, bit for bit" if len({*scores}) == 1 else "OTHER SCORES"
    n, d = X.shape
    return Table(
        title,
        ("who", "seconds", "CPU seconds of the process that asks", "of its workers"),
        rows,
        f"{n:,} rows × {d:,}, {len(np.unique(y))} classes: {same}. With Ray, starting it is "
        "included, and the CPU seconds of its workers are not known.",
    )


def _measured(learner: Learner, executor: Executor | None) -> tuple[str, ...]:
    start, own, theirs = time.perf_counter(), time.process_time(), _of_children()
    learner.consolidate(executor)
    seconds = time.perf_counter() - start, time.process_time() - own, _of_children() - theirs
    asked, *others = (f"{each:.1f}" for each in seconds)
    return asked, others[0], "–" if isinstance(executor, Ray) else others[1]


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
