"""Write a learner's state to one file and read it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from minout._version import __version__
from minout.codecs import ExactCodec
from minout.engine import MalformedError, State, packed, unpacked
from minout.errors import InvalidInputError, MissingDataError
from minout.features import (
    LARGEST,
    FeatureMap,
    HashedText,
    Identity,
    Projection,
    Scattering,
    UnknownMap,
    largest_absolute,
    takes_rows,
)
from minout.store import damaged_message, read_archive, too_large_message, write_archive

FORMAT = "minout model"
VERSION = 2
LONGEST = 200
"""Longer descriptions of feature maps are not shown."""

_MAPS: dict[str, type[Identity | Scattering | Projection | HashedText]] = {
    "identity": Identity,
    "scattering": Scattering,
    "projection": Projection,
    "text": HashedText,
}


def write(path: Path, features: FeatureMap, state: State) -> None:
    """Write a state and the description of its feature map, atomically."""
    about, arrays = packed(state)
    about = {**about, "notes": json.loads(encode_notes(state.notes))}
    write_archive(path, {**header(features), "state": about}, arrays, "The model")


def header(features: FeatureMap) -> dict[str, Any]:
    """Return what is written in front of a state: format, versions, and the feature map."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "minout": __version__,
        "features": describe_features(features),
    }


def encode_notes(notes: dict[str, Any]) -> str:
    """Return the user's notes as JSON; refuse notes that are not.

    A value may be an object with a method `to_json`: it is asked each time that notes are written.
    """
    try:
        return json.dumps(notes, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"`notes` must be plain JSON to be saved: {error}.") from error


def plain_note(value: Any) -> Any:
    """Return a value of the user's notes as JSON has it; see `encode_notes`."""
    return value.to_json() if hasattr(value, "to_json") else value


def _plain(value: Any) -> Any:
    if not hasattr(value, "to_json"):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return value.to_json()


def read(
    path: Path, features: FeatureMap | None, codec: ExactCodec | None = None
) -> tuple[FeatureMap, State]:
    """Read a state; `features` and `codec` must be those that it was taught with."""
    about, arrays = read_archive(path, FORMAT, VERSION)
    try:
        found = found_features(path, about.get("features"), features)
        check_codec(path, about.get("state"), codec)
        state = unpacked(about.get("state"), arrays, codec)
        expect_rows_of(found, state)
    except MalformedError as error:
        raise MissingDataError(damaged_message(path)) from error
    except MemoryError as error:
        raise MissingDataError(too_large_message(path)) from error
    return found, state


def describe_features(features: FeatureMap) -> dict[str, Any]:
    """Return the fingerprint of a map, and its dtype or, if it is built in, name and settings."""
    described: dict[str, Any] = {"fingerprint": features.fingerprint}
    for name, kind in _MAPS.items():
        if type(features) is kind:
            settings = {key: getattr(features, key) for key in kind.__dataclass_fields__}
            if "dtype" in settings:
                settings["dtype"] = settings["dtype"].name
            described |= {"name": name, "settings": settings}
    if "name" not in described:
        described["dtype"] = features.dtype.name
    return described


def is_saved(features: FeatureMap) -> bool:
    """Return whether a map is restored from files, so that it need not be given again."""
    return type(features) in _MAPS.values()


def make_features(described: dict[str, Any]) -> FeatureMap:
    """Return the map that `describe_features` described."""
    name, settings = described["name"], described.get("settings")
    kind = _MAPS.get(name) if isinstance(name, str) else None
    if kind is None or not isinstance(settings, dict):
        raise MalformedError("features")
    if not set(settings) <= set(kind.__dataclass_fields__):
        raise MalformedError("features")
    try:
        return kind(**settings)
    except (TypeError, ValueError) as error:
        raise MalformedError("features") from error


def check_codec(path: Path, about: Any, given: ExactCodec | None) -> None:
    """Raise InvalidInputError unless a codec is the one of a saved state.

    It need not be given if the state has none, or one that is saved.
    """
    memory = about.get("memory") if isinstance(about, dict) else None
    if memory is not None and not isinstance(memory, dict):
        raise MalformedError("memory")
    wanted = None if memory is None else memory.get("fingerprint")
    if memory is None and given is not None:
        raise InvalidInputError(
            f"{path} stores rows as they are, but `memory` is {given.fingerprint}; leave it out."
        )
    if memory is None or (given is None and "name" in memory):
        return
    if given is None:
        raise InvalidInputError(
            f"{path} was taught with the codec {wanted}, which is not saved; pass it as `memory`."
        )
    if given.fingerprint != wanted:
        raise InvalidInputError(
            f"{path} was taught with the codec {wanted}, but `memory` is {given.fingerprint}; "
            "a model knows the codes of one codec only."
        )


def expect_rows_of(features: FeatureMap, state: State) -> None:
    """Raise MalformedError unless rows have the dtype and the lengths that the map makes."""
    given, row = state.widths
    rows = state.examples.given
    if state.examples.dtype != features.dtype:
        raise MalformedError("rows")
    if (given is None) != (row is None or not takes_rows(features)):
        raise MalformedError("widths")
    if state.settings.missing == "mean" and not isinstance(features, Identity):
        raise MalformedError("missing")
    if isinstance(features, Identity) and given != row:
        raise MalformedError("widths")
    if isinstance(features, Projection | HashedText) and row not in (None, features.width):
        raise MalformedError("widths")
    if isinstance(features, Identity) and largest_absolute(rows) > LARGEST[features.dtype]:
        raise MalformedError("rows")


def found_features(path: Path, described: Any, given: FeatureMap | None) -> FeatureMap:
    """Return the feature map of a model: the given one, which must be it, or as described.

    With an `UnknownMap` a map that is not saved is not needed.
    """
    if not isinstance(described, dict) or not isinstance(described.get("fingerprint"), str):
        raise MalformedError("features")
    wanted = described["fingerprint"]
    shown = wanted if len(wanted) < LONGEST and wanted.isprintable() else "of another file"
    if isinstance(given, UnknownMap) and not given.fingerprint:
        if "name" not in described and described.get("dtype") in ("float32", "float64"):
            return UnknownMap(wanted, np.dtype(described["dtype"]))
        given = None
    if given is None:
        if "name" not in described:
            raise InvalidInputError(
                f"{path} was taught with the feature map {shown}, which is not saved; "
                "pass it as `features`."
            )
        given = make_features(described)
        if given.fingerprint != wanted:
            raise MissingDataError(
                f"{path} was taught with the feature map {shown}, which this version of minout "
                f"no longer has: its own is {given.fingerprint}."
            )
    if given.fingerprint != wanted:
        raise InvalidInputError(
            f"{path} was taught with the feature map {shown}, but `features` is "
            f"{given.fingerprint}; a model knows the rows of one map only."
        )
    return given
