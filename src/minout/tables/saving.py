"""Describe an encoder as plain values for JSON, and restore its columns; everything is checked."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from minout.errors import InvalidInputError
from minout.tables.columns import DAY_KEYS, HASH_KEYS, TEXT_KEYS, Column
from minout.tables.kinds import KINDS, MOST_VALUES, UNDECIDED
from minout.tables.values import LONGEST

VERSION = 2
"""In version 1 columns of text had no features."""
MOST_COLUMNS = 100_000
MOST_TEXTS = 2_000
"""The most columns of text: a few characters in a file stand for 512 features."""
_TEXT = ["text", len(TEXT_KEYS)]
"""What stands for all features of a column of text; they are next to each other."""
_KEYS = {
    "number": (*HASH_KEYS,),
    "boolean": (*HASH_KEYS,),
    "date": DAY_KEYS,
    "category": ("missing", *HASH_KEYS),
}
"""The keys that a column of each kind may have beside its base and its categories."""

Restored = tuple[dict[str, str], list[Column], list[tuple[int, str]]]


def describe_columns(
    overrides: Mapping[str, str], columns: list[Column], slots: Sequence[tuple[Column, str]]
) -> dict[str, Any]:
    """Return the kinds that were passed, the columns and the features (slots) as plain values."""
    number = {column.name: n for n, column in enumerate(columns)}
    return {
        "version": VERSION,
        "overrides": dict(sorted(overrides.items())),
        "columns": [[each.name, each.kind, each.why, each.late] for each in columns],
        "slots": [
            [number[column.name], *(_TEXT if column.kind == "text" else [key])]
            for column, key in slots
            if column.kind != "text" or key == TEXT_KEYS[0]
        ],
    }


def restored_columns(about: Any) -> Restored:
    """Return the kinds that were passed, the columns, and features as (index of the column, key).

    Columns of text in version 1 stay without features.

    Raises
    ------
    InvalidInputError
        If `describe_columns` cannot have returned this.
    """
    if not isinstance(about, dict) or set(about) != {"version", "overrides", "columns", "slots"}:
        raise _not_ours()
    overrides, listed, slots = about["overrides"], about["columns"], about["slots"]
    version = about["version"]
    if type(version) is not int or version not in (1, VERSION) or not _are_overrides(overrides):
        raise _not_ours()
    if not isinstance(listed, list) or not all(map(_is_column, listed)):
        raise _not_ours()
    if about["version"] == 1:
        listed = [_without_text(each) for each in listed]
    columns = [Column(name, kind, why, late=late) for name, kind, why, late in listed]
    if len({each.name for each in columns}) < len(columns) or len(columns) > MOST_COLUMNS:
        raise _not_ours()
    if sum(each.kind == "text" for each in columns) > MOST_TEXTS:
        raise _not_ours()
    if not isinstance(slots, list) or not all(_is_slot(each, columns) for each in slots):
        raise _not_ours()
    if len({(number, key) for number, key, *_ in slots}) < len(slots):
        raise _not_ours()
    placed = [
        (number, each) for number, key, *run in slots for each in (TEXT_KEYS if run else [key])
    ]
    keys: list[set[str]] = [set() for _ in columns]
    for number, key in placed:
        keys[number].add(key)
    if not all(map(_has_what_it_needs, columns, keys)):
        raise _not_ours()
    return dict(overrides), columns, placed


def _without_text(listed: list[Any]) -> list[Any]:
    name, kind, why, late = listed
    return [name, "ignore", f"text: {why}", late] if kind == "text" else listed


def _are_overrides(overrides: Any) -> bool:
    return isinstance(overrides, dict) and all(
        isinstance(name, str) and isinstance(kind, str) and kind in KINDS
        for name, kind in overrides.items()
    )


def _is_column(listed: Any) -> bool:
    if not isinstance(listed, list) or len(listed) != 4:
        return False
    name, kind, why, late = listed
    if not (isinstance(name, str) and isinstance(why, str) and isinstance(late, bool)):
        return False
    return isinstance(kind, str) and (kind in KINDS or (kind == UNDECIDED and not late))


def _is_slot(slot: Any, columns: list[Column]) -> bool:
    if not isinstance(slot, list) or len(slot) not in (2, 3):
        return False
    number, key, *_ = slot
    if type(number) is not int or not 0 <= number < len(columns) or not isinstance(key, str):
        return False
    column = columns[number]
    if column.kind == "text" or len(slot) == 3:
        return column.kind == "text" and slot[1:] == _TEXT and type(slot[-1]) is int
    if column.kind in ("number", "boolean", "category") and key.startswith(("=", "~")):
        is_forgotten = re.fullmatch(r"~\d{1,9}", key) is not None
        return is_forgotten or (key.startswith("=") and len(key) <= LONGEST + 1)
    return key in column.base() or key in _KEYS.get(column.kind, ())


def _has_what_it_needs(column: Column, keys: set[str]) -> bool:
    # All features of the base, or none yet; all hashes or none; not too many categories.
    base, hashes = set(column.base()), keys.intersection(HASH_KEYS)
    if not base <= keys and not (column.late and not keys):
        return False
    if hashes and len(hashes) < len(HASH_KEYS):
        return False
    if column.kind == "date" and len(keys.intersection(DAY_KEYS)) == 1:
        return False
    return sum(key.startswith("=") for key in keys) <= MOST_VALUES


def _not_ours() -> InvalidInputError:
    return InvalidInputError(
        "This does not describe an encoder; pass what `TableEncoder.described` returned, unchanged."
    )
