"""What tells one function from another, the same in every process."""

import hashlib
from collections.abc import Callable
from types import CodeType
from typing import Any


def identity_of(function: Callable[..., Any]) -> tuple[str, str]:
    """Gives a readable name of a function, and what there is to know of its inside.

    A string attribute `fingerprint` is believed. Otherwise the inside is the compiled code with
    its constants, and defaults and enclosed values that are plain.
    """
    own = getattr(function, "fingerprint", None)
    if isinstance(own, str):
        return own, ""
    place = function if hasattr(function, "__qualname__") else type(function)
    code = getattr(function, "__code__", None)
    inside = [
        _written(code),
        _written(getattr(function, "__defaults__", None)),
        _written(tuple(_contents(cell) for cell in getattr(function, "__closure__", None) or ())),
    ]
    digest = hashlib.sha256("\n".join(inside).encode()).hexdigest()
    return f"{place.__module__}.{place.__qualname__}", digest


def _written(value: object) -> str:
    """Writes plain values and code; of all else only the type, for its repr may hold an address."""
    if isinstance(value, CodeType):
        parts = (value.co_code, value.co_names, value.co_varnames, value.co_consts)
        return f"code{_written(parts)}"
    if isinstance(value, tuple):
        return f"({','.join(_written(part) for part in value)})"
    if isinstance(value, frozenset):  # its own order differs from process to process
        return f"{{{','.join(sorted(_written(part) for part in value))}}}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    return f"<{type(value).__qualname__}>"


def _contents(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
