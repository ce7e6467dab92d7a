"""Images of rows: an interruption at any instruction can be made good by doing it again."""

import sys
from functools import partial

import numpy as np

from minout.engine import images as module
from minout.engine.images import Images
from minout.maths import Geometry

ROWS = np.random.default_rng(0).normal(size=(40, 3))
FORGOTTEN = np.arange(25)


def interrupted(call, after):
    """Run a call and interrupt it after so many instructions of the module; return whether."""
    left = after

    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != module.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_wiping_can_be_interrupted_at_any_instruction_and_done_again(monkeypatch):
    monkeypatch.setattr(module, "FEW", 1)
    places, stops = np.arange(len(ROWS)), 0
    while True:
        images = Images(Geometry(np.zeros(3), np.ones(3), None), np.dtype(np.float64))
        images.of(ROWS, places)
        if not interrupted(partial(images.wipe, FORGOTTEN), stops):
            break
        images.wipe(FORGOTTEN)
        assert all(images.at(place) is None for place in FORGOTTEN.tolist())
        kept, at = images.kept()
        assert at.tolist() == places[25:].tolist()
        assert (kept == ROWS[25:]).all()
        stops += 1
    assert stops > 200
