"""Give an interruption that compiled code disguised as another error its own type back.

Where the disguise comes from (seen with numba 0.68)
----------------------------------------------------
Python runs a signal handler before the next bytecode of the main thread. A kernel that releases the
interpreter's lock runs none, so a signal that arrives meanwhile waits until the kernel has ended.
Then numba makes Python objects of what the kernel returns. For each array and each NamedTuple it
calls a function written in Python (`numba.core.serialize._numba_unpickle`), and there the handler
runs and raises. Numba does not check for that:

- an array that was passed in, or a tuple that holds an array, is returned although an exception is
  set. The interpreter reports this as `SystemError: … returned a result with an exception set`,
  with the KeyboardInterrupt as its cause;
- for a NamedTuple numba calls the class that it did not get, and the process crashes.

Unpacking arguments and returning None, numbers or tuples of numbers runs no Python code. So the
kernels that Python calls return nothing else, and `restoring_interrupts` is for what remains:
libraries that turn an interruption into an error of theirs, and clean-up that fails after one.

One case cannot be mended here: on a kernel's first call llvmlite loads its code through a callback
from C, where an interruption is printed and dropped (`Exception ignored on calling ctypes callback
function`). A second Ctrl-C works.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def restoring_interrupts(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function: an interruption inside it is raised as what it was.

    An error is replaced by the interruption that led to it: a KeyboardInterrupt or SystemExit in
    its chain of causes and contexts, or the cause of a SystemError, which the interpreter makes
    when a C function returns although a signal handler has raised. An interruption that was being
    handled before the call is not one of those. `raise … from None` hides one on purpose, and is
    respected. It costs about 0.1 µs per call.
    """

    @wraps(function)
    def restoring(*args: P.args, **kwargs: P.kwargs) -> R:
        handled = sys.exception()
        try:
            return function(*args, **kwargs)
        except Exception as error:
            interruption = _interruption(error, handled)
            if interruption is None:
                raise
        try:
            raise interruption
        finally:
            interruption = None  # it refers to this frame

    return restoring


def _interruption(error: Exception, handled: BaseException | None) -> BaseException | None:
    """Return the interruption that led to an error, unless it was being handled before."""
    seen = {id(handled)}
    waiting: list[BaseException | None] = [error]
    raised_by_handler = None
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, KeyboardInterrupt | SystemExit):
            return each
        if isinstance(each, SystemError) and each.__cause__ is not None:
            raised_by_handler = each.__cause__
        waiting.append(each.__cause__)
        if not each.__suppress_context__:
            waiting.append(each.__context__)
    return raised_by_handler
