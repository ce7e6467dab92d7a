"""The appendix's figure on SGD (fig6): an ordinary network fails on MNIST in label order.

Batch size 1, one pass. The rate is the same for both streams and was chosen without the test set,
by one pass over 3,200 of the training rows, judged on the other 800: from 0.005 to 0.02 the
shuffled stream is learned equally well, and in label order every rate from 0.001 ends at chance.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minout.metrics import accuracy
from minout.paper.data import mnist_sample, ordered, pick_per_class, shuffled
from minout.paper.figures import drawing, measured
from minout.paper.figures.measured import Claim, Rows, Task, in_words, values
from minout.paper.figures.plot import Curve, Panel, draw_panels
from minout.paper.network import initial_network, predictions, sgd_step

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STREAMS = {"ordered": drawing.SGD, "shuffled": drawing.INK}


@dataclass(frozen=True)
class Settings(measured.Settings):
    """What is taught, how, and how often it is measured; `per_class` None is everything."""

    variants: tuple[str, ...] = tuple(STREAMS)
    hidden: int = 128
    learning_rate: float = 0.01
    per_class: int | None = None
    points: int = 100


PAPER = (Settings(),)
QUICK = (Settings(per_class=200, points=10),)


def perform(task: Task) -> dict[str, Any]:
    """Teach one pass; measure training and test accuracy at equal intervals.

    The seed draws the weights, the same for both streams, and the order (within a label, too).
    """
    settings, data = task.settings, mnist_sample()
    weights_rng, order_rng = np.random.default_rng(task.seed).spawn(2)
    if settings.per_class is not None:
        data = pick_per_class(data, settings.per_class, order_rng)
    data = shuffled(data, order_rng)
    if task.variant == "ordered":
        data = ordered(data)
    net = initial_network((data.rows.shape[1], settings.hidden, 10), weights_rng)
    stops = np.linspace(0, len(data.rows), settings.points + 1).round().astype(np.int64).tolist()
    found: dict[str, list[float]] = {"taught": stops, "train": [], "test": []}
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        for x, y in zip(data.rows[start:stop], data.labels[start:stop].tolist(), strict=True):
            sgd_step(net, x, y, settings.learning_rate)
        found["train"].append(accuracy(predictions(net, data.rows), data.labels))
        found["test"].append(accuracy(predictions(net, data.test_rows), data.test_labels))
    return found


def claims(rows: Rows) -> list[Claim]:
    """Compare "fails utterly" with the final test accuracy; a bound must hold for all seeds."""
    ended, learned = (100 * values(rows, "test", stream=stream)[:, -1] for stream in STREAMS)
    return [
        Claim(
            "SGD fails utterly on MNIST-ol (we ask: below 20 % of the test set at the end)",
            in_words(ended, " %"),
            bool((ended < 20).all()),
        ),
        Claim(
            "the same network learns the shuffled stream (we ask: above 80 %)",
            in_words(learned, " %"),
            bool((learned > 80).all()),
        ),
    ]


def draw(rows: Rows) -> "Figure":
    """Draw test accuracy solid and training accuracy dashed, for both streams."""
    curves = []
    for stream, colour in STREAMS.items():
        for part in ("train", "test"):
            y = 100 * values(rows, part, stream=stream).T
            x, label = rows[0].values["taught"], f"{stream}, {part}"
            curves.append(Curve(label, colour, x, y, dashed=part == "train"))
    words = {"xlabel": "examples taught", "ylabel": "accuracy (%)"}
    return draw_panels([[Panel(curves, words)]], 6.4, 3.8)
