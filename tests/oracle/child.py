"""Work in a forked child."""

import os
import signal
import time
import traceback

PATIENCE = 60.0
"""Seconds until a child counts as hanging; a first fit may compile."""


def in_child(work, *, patience=PATIENCE):
    """Fork, do the work in the child, and return its exit code, or None if it hangs."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = int(work())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None
