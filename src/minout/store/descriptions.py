"""What a file says of a model: feature map, codec, settings, notes; whether given ones match."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from minout.codecs import ExactCodec
from minout.core import MalformedError, Settings, State, expect
from minout.errors import InvalidInputError, MissingDataError
from minout.features import (
    FeatureMap,
    HashedText,
    Identity,
    Projection,
    Scattering,
    UnknownMap,
    takes_rows,
)

LONGEST = 200  # longer descriptions of feature maps are not shown

_MAPS: dict[str, type[Identity | Scattering | Projection | HashedText]] = {
    "identity": Identity,
    "scattering": Scattering,
    "projection": Projection,
    "text": HashedText,
}


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


def is_described(features: FeatureMap) -> bool:
    """Return whether a map is restored from files, so that it need not be given again."""
    return type(features) in _MAPS.values()


def make_features(described: dict[str, Any]) -> FeatureMap:
    """Return the map that `describe_features` described."""
    name, settings = described["name"], described.get("settings")
    kind = _MAPS.get(name) if isinstance(name, str) else None
    if kind is None or not isinstance(settings, dict):
        raise MalformedError("features")
    expect(set(settings) <= set(kind.__dataclass_fields__), "features")
    try:
        return kind(**settings)
    except (TypeError, ValueError) as error:
        raise MalformedError("features") from error


def found_features(path: Path, described: Any, given: FeatureMap | None) -> FeatureMap:
    """Return the feature map of a model: the given one, which must be it, or as described.

    With an `UnknownMap` a map that is not saved is not needed.
    """
    if not isinstance(described, dict) or not isinstance(described.get("fingerprint"), str):
        raise MalformedError("features")
    wanted = described["fingerprint"]
    shown = wanted if len(wanted) < LONGEST and wanted.isprintable() else "of another file"
    taught = f"{path} was taught with the feature map {shown}"
    if isinstance(given, UnknownMap) and not given.fingerprint:
        if "name" not in described and described.get("dtype") in ("float32", "float64"):
            return UnknownMap(wanted, np.dtype(described["dtype"]))
        given = None
    if given is None:
        if "name" not in described:
            raise InvalidInputError(f"{taught}, which is not saved; pass it as `features`.")
        given = make_features(described)
        if given.fingerprint != wanted:
            raise MissingDataError(
                f"{taught}, which this version of minout no longer has: its own is "
                f"{given.fingerprint}."
            )
    if given.fingerprint != wanted:
        raise InvalidInputError(
            f"{taught}, but `features` is {given.fingerprint}; a model knows the rows of one map "
            "only."
        )
    return given


def check_codec(path: Path, about: Any, given: ExactCodec | None) -> None:
    """Raise InvalidInputError unless a codec is the one of a saved state.

    It need not be given if the state has none, or one that is saved.
    """
    memory = about.get("memory") if isinstance(about, dict) else None
    expect(memory is None or isinstance(memory, dict), "memory")
    if memory is None:
        if given is not None:
            raise InvalidInputError(
                f"{path} stores rows as they are, but `memory` is {given.fingerprint}; leave it "
                "out."
            )
        return
    taught = f"{path} was taught with the codec {memory.get('fingerprint')}"
    if given is None and "name" not in memory:
        raise InvalidInputError(f"{taught}, which is not saved; pass it as `memory`.")
    if given is not None and given.fingerprint != memory.get("fingerprint"):
        raise InvalidInputError(
            f"{taught}, but `memory` is {given.fingerprint}; a model knows the codes of one codec "
            "only."
        )


def expect_rows_of(features: FeatureMap, state: State) -> None:
    """Raise MalformedError unless rows have the dtype and the lengths that the map makes."""
    given, row = state.widths
    expect(state.examples.dtype == features.dtype, "rows")
    expect((given is None) == (row is None or not takes_rows(features)), "widths")
    if isinstance(features, Identity):
        expect(given == row, "widths")
    else:
        expect(state.settings.missing != "mean", "missing")
    if isinstance(features, Projection | HashedText):
        expect(row in (None, features.width), "widths")


def expect_settings(path: Path, settings: Settings, wanted: dict[str, Any]) -> None:
    """Raise InvalidInputError unless a model has the settings that the user named."""
    for name, value in wanted.items():
        has = getattr(settings, name)
        if value != has:
            raise InvalidInputError(
                f"The model in {path} was made with {name}={has!r}, not {value!r}; "
                f"leave `{name}` out."
            )


def encode_notes(notes: dict[str, Any]) -> str:
    """Return the user's notes as JSON; refuse notes that are not.

    A value may be an object with a method `to_json`: it is asked each time that notes are written.
    """
    try:
        return json.dumps(notes, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"`notes` must be plain JSON to be saved: {error}.") from error


def _plain(value: Any) -> Any:
    if not hasattr(value, "to_json"):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return value.to_json()
