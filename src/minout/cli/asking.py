"""Asking a model about the rows of a file, a few at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from minout._typing import Floats
from minout.cli.remembered import Asked, reader_for, remembered
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.store import ModelFolder
from minout.streams.files import BadRowError, Example, Reader

AT_A_TIME = 256
T = TypeVar("T")


def loaded(model: Path) -> Learner:
    """Reads a model to ask it, also while somebody else teaches it."""
    with ModelFolder(model, shared=True) as folder:
        return load(folder.file)


def load(file: Path) -> Learner:
    """Reads a model's file, and refuses one whose notes of files make no sense."""
    learner = Learner.load(file)
    remembered(learner)
    return learner


def needs_examples(learner: Learner) -> Learner:
    """Refuses a model from which everything was forgotten."""
    if not len(learner):
        raise InvalidInputError(
            "This model holds no examples, so there is nothing to predict; teach it some first."
        )
    return learner


@contextmanager
def opened(model: Path, asked: Asked) -> Iterator[tuple[Learner, Reader]]:
    """Gives a model and a file as it knows it; a bad row is told with the way to go on."""
    learner = loaded(model)
    try:
        with reader_for(learner, asked) as reader:
            yield learner, reader
    except BadRowError as error:
        if error.following is None:
            raise
        raise InvalidInputError(
            f"{error} To go on after it, add --from-line {error.following}."
        ) from None


def answers(reader: Reader, ask: Callable[[Floats], T]) -> Iterator[tuple[list[Example], T]]:
    """Asks about rows (n, d), a batch at a time, and gives each batch with its answer.

    What is refused is named by its place in the file; what came before it is answered first.
    """
    for batch in _batches(reader, 1 if reader.source == "standard input" else AT_A_TIME):
        try:
            said = [(batch, ask(np.array([example.row for example in batch])))]
        except InvalidInputError:
            said = []
        yield from said or _one_by_one(batch, reader.source, ask)


def _one_by_one(
    batch: list[Example], source: str, ask: Callable[[Floats], T]
) -> Iterator[tuple[list[Example], T]]:
    for example in batch:
        try:
            said = ask(example.row[None])
        except InvalidInputError as error:
            raise BadRowError(source, example.where, str(error), example.number + 1) from None
        yield [example], said


def _batches(reader: Reader, size: int) -> Iterator[list[Example]]:
    batch: list[Example] = []
    refusal: BadRowError | None = None
    rows = iter(reader)
    while refusal is None:
        try:
            example = next(rows, None)
        except BadRowError as error:
            refusal, example = error, None
        if example is not None:
            batch.append(example)
        if batch and (example is None or len(batch) == size):
            yield batch
            batch = []
        if example is None:
            break
    if refusal is not None:
        raise refusal
