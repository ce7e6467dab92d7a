"""Ctrl-C at a chosen line."""

import linecache
import os
import sys

UNINTERRUPTED = ("with ", "try:", "if is_outermost:", "self._committed, self._entries")


def interrupt_at_line(number, home, *, also_at_with=True, ran=None):
    """Return a trace that raises KeyboardInterrupt when so many lines of some files have run.

    `home` is how the names of the files begin. Between a `with` or a `try` and its block Python
    lets no interruption in, where a trace would, nor in the end of a turn, which calls nothing.
    `ran` collects the numbers of the lines.
    """
    ran = [] if ran is None else ran

    def trace(frame, event, _):
        name = frame.f_code.co_filename
        if not name.startswith(home):
            return None
        line = linecache.getline(name, frame.f_lineno).lstrip()
        if event == "line" and (also_at_with or not line.startswith(UNINTERRUPTED)):
            ran.append(frame.f_lineno)
            if len(ran) == number:
                raise KeyboardInterrupt
        return trace

    return trace


def was_interrupted(number, home, call, ran=None):
    """Make a call; return whether it was interrupted at that line."""
    tracing = sys.gettrace()
    sys.settrace(interrupt_at_line(number, home, also_at_with=False, ran=ran))
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(tracing)
    return False


def lines_of(home, call, *, most):
    """Make a call; return at most so many of its lines, evenly spread, or all if MINOUT_LONG."""
    ran = []
    assert not was_interrupted(-1, home, call, ran)
    step = 1 if os.environ.get("MINOUT_LONG") else max(len(ran) // most, 1)
    return range(1 + step // 2, len(ran) + 1, step)
