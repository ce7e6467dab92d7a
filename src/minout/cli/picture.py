"""The picture of `minout explain`: an image, what decided, and the stored examples behind it."""

import io
from math import isqrt
from pathlib import Path

from minout._typing import Floats, Id
from minout.cli.remembered import Asked, reader_for, remembered, stored_id
from minout.engine import Explanation
from minout.errors import InvalidInputError
from minout.features import Identity
from minout.learner import Learner
from minout.store import write_whole

SUFFIXES = (".png", ".pdf", ".svg")


def draw_picture(
    learner: Learner, said: Explanation, row: Floats, file: Path, asked: Asked | None
) -> None:
    """Draws why a row gets its label and writes that to a file."""
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInputError(f"A picture is one of {', '.join(SUFFIXES)}, not {file.name!r}.")
    from minout.classifier import draw

    shape = remembered(learner).image_shape
    if shape is None and isqrt(len(row)) ** 2 != len(row):
        raise InvalidInputError(
            f"A row of {len(row)} numbers is no square image; --picture is for models of images."
        )
    figure = draw(said, row, image_shape=shape, images=_images(learner, said, asked))
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:], dpi=150)
    write_whole(file, content.getvalue(), "The picture")


def _images(learner: Learner, said: Explanation, asked: Asked | None) -> dict[Id, Floats]:
    """Gives the images that bear the decision: from the model, or from the file if it has them."""
    wanted = {support.id for support in said.supports}
    if isinstance(learner.features, Identity):
        return {each: learner.example(each)[0] for each in wanted}
    if asked is None:
        return {}
    with reader_for(learner, asked) as reader:
        stored = ((each.id and stored_id(learner, each.id), each.row) for each in reader)
        return {id: row for id, row in stored if id is not None and id in wanted}
