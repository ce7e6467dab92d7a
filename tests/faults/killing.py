"""Processes that are killed while they change a model in a folder.

A child does the operations of a script one after the other, and acknowledges each through a pipe.
It is killed at a random moment; what the folder then holds must be a state that the script went
through, to the last bit, and not an earlier one than was acknowledged. The next child goes on from
there.
"""

import os
import random
import select
import shutil
import signal
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from minout import Learner
from tests.oracle.operations import Script, digest, perform

PATIENCE = 60.0
MOST, LATER = 24, 0.02
"""A child is killed after so many acknowledgements at most, and so many seconds."""
ALLOWED = 1.0
"""What was acknowledged so many seconds before the kill may be lost with "batch"."""


class Kills(NamedTuple):
    """How many children were killed, and what the folder had lost each time."""

    tried: int
    survived: int
    operations: int
    lost: list[int]
    problems: list[str]


def kill(script: Script, kills: int, *, durability="example", number=signal.SIGKILL, seed=0):
    """Kill children that follow a script, and check the folder after each.

    At the end of the script they start over, in an empty folder.
    """
    rng, done, performed = random.Random(seed), 0, 0
    lost, problems = [], []
    folder = Path(tempfile.mkdtemp(prefix="minout-kills-"))
    for _ in range(kills):
        told = _run_and_kill(script, folder, done, durability, number, rng)
        now, problem = _check(script, folder, done, told, durability)
        if problem:
            problems.append(problem)
        acknowledged = told[-1][0] if told else done
        lost.append(max(acknowledged - now, 0))
        performed += max(now - done, 0)
        done = now
        if problem or done >= len(script.operations):
            shutil.rmtree(folder)
            folder.mkdir()
            done = 0
    shutil.rmtree(folder)
    return Kills(kills, kills - len(problems), performed, lost, problems)


def _run_and_kill(script, folder, done, durability, number, rng):
    # Return the acknowledgements that arrived: how many operations were done, and when.
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            code = _follow(script, folder, done, durability, writing)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    lines, wanted = b"", rng.randrange(MOST + 1)  # with 0, it is killed while it opens the folder
    while lines.count(b"\n") < wanted:
        assert select.select([reading], [], [], PATIENCE)[0]
        if not (more := os.read(reading, 2**16)):
            break
        lines += more
    time.sleep(rng.random() * LATER)
    os.kill(pid, number)
    status = os.waitpid(pid, 0)[1]
    with os.fdopen(reading, "rb") as rest:
        lines += rest.read()
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    return [(int(n), float(at)) for n, at in map(bytes.split, lines.splitlines())]


def _follow(script, folder, done, durability, pipe):
    # In the child: do the operations that are left, and acknowledge each.
    learner = Learner.open(folder, durability=durability, **script.settings)
    os.write(pipe, _line(done))
    for count, operation in enumerate(script.operations[done:], done + 1):
        perform(learner, operation)
        os.write(pipe, _line(count))
    learner.close()
    return 0


def _line(count):
    return f"{count} {time.monotonic()}\n".encode()


def _check(script, folder, done, told, durability):
    # Return how many operations the folder holds, and what is wrong with that, if anything is.
    acknowledged = told[-1][0] if told else done
    safe = acknowledged
    if durability == "batch" and told:
        safe = max([n for n, at in told if at < told[-1][1] - ALLOWED], default=done)
    with Learner.open(folder, **script.settings) as learner:
        bits = digest(learner)
        is_sound = len(learner) == 0 or learner.audit().ok
    states = [n for n, each in enumerate(script.digests) if each == bits]
    possible = [n for n in states if safe <= n <= acknowledged + 1]
    if not possible:
        return 0, f"{acknowledged} were acknowledged, {safe} safe; found {states}"
    if not is_sound:
        return 0, f"after {possible[-1]} the audit finds differences"
    nearest = min(possible, key=lambda n: abs(n - acknowledged))
    return nearest, ""
