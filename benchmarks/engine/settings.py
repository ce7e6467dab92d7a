"""Sizes and seeds of the engine's benchmark; none was chosen by looking at test rows."""

from dataclasses import dataclass, replace

import numpy as np

from minout.streams import Data


@dataclass(frozen=True)
class Settings:
    """Sizes of the parts; the learner itself has its defaults.

    Parameters
    ----------
    compile_first : bool
        Compile everything before anything is timed.
    seed, seeds : int, tuple of int
        The seed of parts with one run; the seeds of `small`, `tables`, `expected` and of the
        tables in `codes`, and of the images in `bent`.
    features : str
        The features of all parts but `small`, `tables`, `many`, `thousand`, `expected`, `bent`,
        `forms` and `codes`.
    audits : int
        Full audits while the stream is taught.
    growth_at : tuple of (int, int)
        Numbers of stored examples at which the cost of one is measured, and over how many.
    small, small_features : tuple
        Examples per class, and features, of `small`; also examples per class of the scattering
        features in `bent`.
    medium, paper : int
        Examples per class in `order`, `forget`, `noise`, `predict` and `codes`; for the paper's
        learner in `noise`.
    forgotten, wrong : float
        Share of examples forgotten in `forget`; of wrong labels in `noise` and `expected`.
    table_rows, table_test, sets
        Rows of the synthetic table in `tables`, to learn from and to test on (also in `expected`,
        `bent` and `forms`); scikit-learn's sets, also in `codes`.
    sizes : tuple of int
        Rows to learn from in `expected`.
    classes, examples, held_out, dimensions, spread
        The vectors of `many`, `examples` and `held_out` per class. With a spread of 4.25 about nine
        in ten held-out vectors can be classified. `predict` uses `examples_each` per class.
    class_counts, examples_each
        Further numbers of classes in `many`, with fewer examples each.
    embeddings : tuple of (bool, int, int)
        The sets of `thousand`: whether the covariances of the classes differ, classes, and examples
        of each. `held_out` and `dimensions` are those of `many`.
    reach_seconds : float
        How long a set of `thousand` with more than 1,000 classes is taught.
    gaussians : int
        Rows of the two overlapping Gaussians in `overlap`.
    pool, pool_columns : int, tuple of int
        Rows of the pool in `settle`, and numbers of columns.
    batch, repeats : int
        Rows of one call in `predict`, `many` and `thousand`, and calls; solves in `settle`.
    bent_sets : tuple of (str, int)
        scikit-learn's sets in `bent`, and how often each is split.
    demo_each, demo_wrong : int or None, int
        The demo's digits in `bent`: examples per class (None is all), and wrong labels.
    curved_rows, curved_draws : int
        Rows to learn from of each drawn table in `bent`, and how often each is drawn.
    pixels : int
        Examples per class of the images in `bent`.
    trees, jobs : int
        Trees of a forest and rounds of boosting in `bent`; processes that tune them.
    cost_digits, cost_rows : int
        Rows of the digits and of the drawn table with which costs are measured in `forms`.
    choice_rows, choice_classes : tuple of int
        Rows and classes with which the choice is timed in `forms`.
    regret_sets, regret_at : tuple
        Sets with which the choice is compared with fixed settings in `forms`; numbers of rows to
        learn from, each with the number of splits.
    drift_rows, drift_tuning, drift_keep : int
        Rows of each changing stream in `drift`, and of the draw on which other models are tuned;
        the window.
    drift_streams, drift_stationary : int
        Streams that do not change in `drift`, and rows of each.
    window_at : tuple of (int, int)
        Examples stored in `window`, as many as the window keeps, and how many more are timed.
    constant_kept, constant_rows : int
        The window of the long stream in `window`, and its rows.
    law_tables : int
        Random tables on which `weights` checks each law.
    rare_rows, rare_draws : int
        Rows to learn from with a rare class in `weights`, as many to test on; draws.
    label_sets, label_rows : tuple of str, int
        The sets of `labels`, and rows of those that are drawn.
    """

    compile_first: bool = True
    seed: int = 0
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    features: str = "scattering"
    audits: int = 20
    growth_at: tuple[tuple[int, int], ...] = ((1_000, 500), (6_000, 1_000), (60_000, 3_000))
    small: tuple[int, ...] = (10, 100)
    small_features: tuple[str, ...] = ("scattering", "raw")
    medium: int = 600
    paper: int = 100
    forgotten: float = 0.01
    wrong: float = 0.05
    table_rows: int = 20_000
    table_test: int = 5_000
    sets: tuple[str, ...] = ("breast cancer", "wine", "digits")
    sizes: tuple[int, ...] = (40, 100, 400, 1_000)
    classes: int = 150
    examples: int = 100
    held_out: int = 20
    dimensions: int = 384
    spread: float = 4.25
    class_counts: tuple[int, ...] = (25, 50, 100, 150, 300)
    examples_each: int = 20
    embeddings: tuple[tuple[bool, int, int], ...] = (
        (True, 1_000, 100),
        (False, 1_000, 100),
        (True, 5_000, 20),
    )
    reach_seconds: float = 300.0
    gaussians: int = 60_000
    pool: int = 3_000
    pool_columns: tuple[int, ...] = (20, 100, 784)
    batch: int = 1_000
    repeats: int = 15
    bent_sets: tuple[tuple[str, int], ...] = (("digits", 5), ("breast cancer", 50), ("wine", 50))
    demo_each: int | None = None
    demo_wrong: int = 20
    curved_rows: int = 5_000
    curved_draws: int = 3
    pixels: int = 100
    trees: int = 100
    jobs: int = 2
    cost_digits: int = 1_300
    cost_rows: int = 3_000
    choice_rows: tuple[int, ...] = (1_000, 5_000, 10_000, 20_000)
    choice_classes: tuple[int, ...] = (2, 10)
    regret_sets: tuple[str, ...] = (
        *("digits", "breast cancer", "wine"),
        *("moons", "checkerboard", "thresholds", "XOR", "clusters"),
    )
    regret_at: tuple[tuple[int, int], ...] = ((100, 8), (300, 6), (1_000, 4), (3_000, 3))
    drift_rows: int = 20_000
    drift_tuning: int = 5_000
    drift_keep: int = 1_000
    drift_streams: int = 100
    drift_stationary: int = 4_000
    window_at: tuple[tuple[int, int], ...] = ((1_000, 1_000), (10_000, 5_000), (60_000, 5_000))
    constant_kept: int = 1_000
    constant_rows: int = 100_000
    law_tables: int = 50
    rare_rows: int = 5_100
    rare_draws: int = 5
    label_sets: tuple[str, ...] = ("digits", "breast cancer", "20 classes", "two Gaussians")
    label_rows: int = 2_000


FULL = Settings()
SAMPLE = Settings(
    growth_at=((250, 125), (1_000, 250), (4_000, 1_000)),
    medium=200,
    embeddings=((True, 300, 20), (False, 300, 20)),
    gaussians=4_000,
    window_at=((1_000, 1_000), (10_000, 5_000)),
    constant_rows=20_000,
    law_tables=20,
)
TESTING = Settings(
    compile_first=False,
    seeds=(0, 1),
    features="raw",
    audits=2,
    growth_at=((40, 20), (80, 20)),
    small=(3,),
    medium=8,
    paper=3,
    forgotten=0.05,
    table_rows=60,
    table_test=40,
    sets=("wine",),
    sizes=(20, 60),
    classes=5,
    examples=6,
    held_out=4,
    dimensions=12,
    class_counts=(3,),
    examples_each=3,
    embeddings=((True, 12, 4), (False, 12, 4)),
    gaussians=60,
    pool=300,
    pool_columns=(3, 8),
    batch=40,
    repeats=2,
    bent_sets=(("wine", 1),),
    demo_each=12,
    demo_wrong=3,
    curved_rows=60,
    curved_draws=1,
    pixels=8,
    trees=3,
    jobs=1,
    cost_digits=120,
    cost_rows=60,
    choice_rows=(40, 80),
    choice_classes=(2, 3),
    regret_sets=("wine", "moons"),
    regret_at=((40, 2), (150, 1)),
    drift_rows=120,
    drift_tuning=20,
    drift_keep=50,
    drift_streams=3,
    drift_stationary=40,
    window_at=((60, 40),),
    constant_kept=30,
    constant_rows=160,
    law_tables=1,
    rare_rows=153,
    rare_draws=1,
    label_sets=("wine",),
    label_rows=60,
)


def settings_for(data: Data) -> Settings:
    """Return the sizes that suit a data set: the full ones where it is as large as MNIST."""
    rarest = int(np.unique(data.labels, return_counts=True)[1].min())
    if len(data.labels) >= 60_000 and rarest >= FULL.medium:
        return FULL
    return replace(
        SAMPLE,
        small=tuple(per_class for per_class in SAMPLE.small if per_class <= rarest),
        medium=min(SAMPLE.medium, rarest),
        paper=min(SAMPLE.paper, rarest),
        pixels=min(SAMPLE.pixels, rarest),
    )
