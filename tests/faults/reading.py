"""Readers beside a writer: each reload must give a state that existed, complete and right."""

import multiprocessing
import time
from typing import NamedTuple

import numpy as np

from minout import Learner

COLUMNS, CLASSES = 4, 3
PATIENCE = 60.0


class Found(NamedTuple):
    """What one reader saw: reloads that brought something new, checks, and what was wrong."""

    reloads: int
    longest: int
    problems: list[str]


def row_of(number):
    """Return the row and the label of the example with that number."""
    label = number % CLASSES
    rng = np.random.default_rng(number)
    return np.eye(CLASSES, COLUMNS)[label] * 2.0 + rng.standard_normal(COLUMNS), label


def write(folder, seconds, window):
    """Teach numbered examples, close and open again from time to time; return how many."""
    learner, number = Learner.open(folder, keep=window), 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        row, label = row_of(number)
        learner.teach(row, label, id=number, at=float(number))
        number += 1
        if number % 50 == 0:
            learner.notes["number"] = number
            learner.flush()
        if number % 400 == 0:
            learner.close()  # the last connection removes the write-ahead log
            learner = Learner.open(folder)
        if number == 300:
            learner.consolidate()
    learner.close()
    return number


def read(folder, seconds, window):
    """Reload again and again, and check each new state."""
    reader, reloads, longest, problems = Learner.open(folder, read_only=True), 0, 0, []
    until = time.monotonic() + seconds
    while time.monotonic() < until and not problems:
        try:
            if not reader.reload():
                time.sleep(0.001)
                continue
        except Exception as error:
            problems.append(repr(error))
            break
        reloads += 1
        problems += _problems(reader, longest, window)
        longest = max(longest, reader.ids[-1] + 1)
    return Found(reloads, longest, problems)


def _problems(reader, longest, window):
    ids = reader.ids
    if ids != [*range(ids[0], ids[-1] + 1)] or len(ids) > window or ids[-1] + 1 < longest:
        return [f"ids {ids[0]} to {ids[-1]}, {len(ids)} of them, after {longest}"]
    if reader.notes.get("number", 0) > ids[-1] + 1:
        return ["notes of a later state"]
    rows, labels = zip(*map(row_of, ids), strict=True)
    if not all(np.array_equal(reader.example(i)[0], row_of(i)[0]) for i in ids[-5:]):
        return ["a row is not the one that was taught"]
    wrong = np.flatnonzero(reader.predict(np.array(rows)) != np.array(labels))
    unlisted = {ids[i] for i in wrong} - set(reader.misfits)
    return [f"{sorted(unlisted)} are predicted wrong, but no misfits"] if unlisted else []


def readers_and_writer(folder, *, readers, seconds, window):
    """Run processes that read and one that writes; return what they found, and how many it taught.

    They are forked before the folder is opened.
    """
    Learner.open(folder, keep=window).teach(*row_of(0), id=0, at=0.0)
    context = multiprocessing.get_context("fork")
    with context.Pool(readers + 1) as pool:
        writing = pool.apply_async(write, (folder, seconds, window))
        reading = [pool.apply_async(read, (folder, seconds, window)) for _ in range(readers)]
        found = [each.get(seconds + PATIENCE) for each in reading]
        return found, writing.get(seconds + PATIENCE)
