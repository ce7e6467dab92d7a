"""Write a learner's state to one file and read it; docs/format.md describes the file."""

import json
from pathlib import Path
from typing import Any

from minout._version import __version__
from minout.engine import MalformedError, State, packed, unpacked
from minout.errors import InvalidInputError, MissingDataError
from minout.features import FeatureMap, Identity, RandomFourier, Scattering
from minout.store import damaged_message, read_archive, write_archive

FORMAT = "minout model"
VERSION = 2

_MAPS: dict[str, type[Identity | Scattering | RandomFourier]] = {
    "identity": Identity,
    "scattering": Scattering,
    "random_fourier": RandomFourier,
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


def _plain(value: Any) -> Any:
    to_json = getattr(value, "to_json", None)
    if to_json is None:
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return to_json()


def read(path: Path, features: FeatureMap | None) -> tuple[FeatureMap, State]:
    """Read a state; `features` must be the map that it was taught with."""
    about, arrays = read_archive(path, FORMAT, VERSION)
    if about["version"] < VERSION:
        raise MissingDataError(
            f"{path} was written by a version of minout before 0.1.0, which this one does not "
            "read; teach the model again."
        )
    try:
        found = found_features(path, about.get("features"), features)
        state = unpacked(about.get("state"), arrays)
        expect_rows_of(found, state)
    except MalformedError as error:
        raise MissingDataError(damaged_message(path)) from error
    return found, state


def describe_features(features: FeatureMap) -> dict[str, Any]:
    """Return the fingerprint of a map; for built-in maps, its name and settings too."""
    described: dict[str, Any] = {"fingerprint": features.fingerprint}
    for name, kind in _MAPS.items():
        if type(features) is kind:
            settings = {key: getattr(features, key) for key in kind.__dataclass_fields__}
            if "dtype" in settings:
                settings["dtype"] = settings["dtype"].name
            described |= {"name": name, "settings": settings}
    return described


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


def expect_rows_of(features: FeatureMap, state: State) -> None:
    """Raise MalformedError unless rows have the dtype and the lengths that the map makes."""
    given, row = state.widths
    if state.examples.dtype != features.dtype:
        raise MalformedError("rows")
    if (given is None) != (row is None or not isinstance(features, tuple(_MAPS.values()))):
        raise MalformedError("widths")
    if isinstance(features, Identity) and given != row:
        raise MalformedError("widths")


def found_features(path: Path, described: Any, given: FeatureMap | None) -> FeatureMap:
    """Return the feature map of a model: the given one, which must be it, or as described."""
    if not isinstance(described, dict) or not isinstance(described.get("fingerprint"), str):
        raise MalformedError("features")
    wanted = described["fingerprint"]
    if given is None:
        if "name" not in described:
            raise InvalidInputError(
                f"{path} was taught with the feature map {wanted}, which is not saved; "
                "pass it as `features`."
            )
        given = make_features(described)
        if given.fingerprint != wanted:
            raise MissingDataError(
                f"{path} was taught with the feature map {wanted}, which this version of minout "
                f"no longer has: its own is {given.fingerprint}."
            )
    if given.fingerprint != wanted:
        raise InvalidInputError(
            f"{path} was taught with the feature map {wanted}, but `features` is "
            f"{given.fingerprint}; a model knows the rows of one map only."
        )
    return given
