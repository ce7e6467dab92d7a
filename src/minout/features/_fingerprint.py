"""Short fingerprints of feature maps and functions, the same in every process."""

import hashlib
import json
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any


def fingerprint(name: str, version: int, settings: Mapping[str, object]) -> str:
    """Join a readable name, a version and 16 digits of a hash of all settings.

    Equal settings have equal fingerprints, on every machine.

    >>> fingerprint("identity", 1, {"dtype": "float64"})
    'identity-1-3a3ccce43894c335'
    """
    written = json.dumps([name, version, settings], sort_keys=True)
    return f"{name}-{version}-{hashlib.sha256(written.encode()).hexdigest()[:16]}"


def describe_function(function: Callable[..., Any]) -> tuple[str, str]:
    """Return a readable name of a function, and a hash of its contents.

    A string attribute `fingerprint` is used unchanged. Otherwise the hash is of the compiled code
    with its constants, and of plain defaults and enclosed values.
    """
    own = getattr(function, "fingerprint", None)
    if isinstance(own, str):
        return own, ""
    place = function if hasattr(function, "__qualname__") else type(function)
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    contents = [
        _as_text(code),
        _as_text(getattr(function, "__defaults__", None)),
        _as_text(tuple(_cell_contents(cell) for cell in cells)),
    ]
    digest = hashlib.sha256("\n".join(contents).encode()).hexdigest()
    return f"{place.__module__}.{place.__qualname__}", digest


def _as_text(value: object) -> str:
    """Return plain values and code as text; other objects as their type, without addresses."""
    if isinstance(value, CodeType):
        parts = (value.co_code, value.co_names, value.co_varnames, value.co_consts)
        return f"code{_as_text(parts)}"
    if isinstance(value, tuple):
        return f"({','.join(_as_text(part) for part in value)})"
    if isinstance(value, frozenset):  # the order of a set differs between processes
        return f"{{{','.join(sorted(_as_text(part) for part in value))}}}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    return f"<{type(value).__qualname__}>"


def _cell_contents(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # a cell that is still empty
        return None
