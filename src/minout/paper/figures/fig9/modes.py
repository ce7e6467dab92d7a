"""Generated pictures with a given number of modes, whose labels are drawn at random."""

from dataclasses import dataclass

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.streams import Data


@dataclass(frozen=True)
class Pictures:
    """How pictures are generated.

    A mode is a picture of `side` × `side` pixels, each 1 with probability `ink` and 0 otherwise. An
    example of it is that picture with each pixel inverted with probability `noise`. `side` and
    `ink` give rows like those of MNIST: squared length 87 (MNIST: 85), and a cosine of 0.39 between
    rows of different labels (0.38). Rows with less in common, such as values of ±1, hardly
    interfere: 100 modes of them are learned without rehearsal.
    """

    side: int = 15
    ink: float = 0.38
    noise: float = 0.05
    test_rows: int = 1_000


def generate(pictures: Pictures, modes: int, rows: int, classes: int, seed: int) -> Data:
    """Draw modes, give each label as many of them, and draw rows from all modes in turn.

    The rows of a label come in random order. The seed is used with `modes`, so that the draws are
    not those of a learner's weights.
    """
    rng = np.random.default_rng([seed, modes])
    centres = rng.random((modes, pictures.side**2)) < pictures.ink
    label_of = rng.permutation(np.arange(modes) % classes)
    order = rng.permutation(rows)
    train, labels = _examples(centres, label_of, rows, pictures.noise, rng)
    test, test_labels = _examples(centres, label_of, pictures.test_rows, pictures.noise, rng)
    shape = (pictures.side, pictures.side)
    return Data(f"{modes} modes", train[order], labels[order], test, test_labels, shape)


def _examples(
    centres: Bools, label_of: Ints, count: int, noise: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    mode = np.arange(count) % len(centres)
    inverted = rng.random((count, centres.shape[1])) < noise
    return (centres[mode] ^ inverted).astype(np.float64), label_of[mode]
