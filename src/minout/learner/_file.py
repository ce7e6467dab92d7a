"""A learner as one file, and back."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from minout._version import __version__
from minout.errors import InvalidInputError, MissingDataError
from minout.features import FeatureMap, Identity, RandomFourier, Scattering
from minout.learner._margin import Margin
from minout.learner._saved import packed, unpacked
from minout.rules import MarginRule
from minout.store import read_archive, refusing_foreign, write_archive

FORMAT = "minout model"
VERSION = 1

_MAPS: dict[str, type[Identity | Scattering | RandomFourier]] = {
    "identity": Identity,
    "scattering": Scattering,
    "random_fourier": RandomFourier,
}


class Whole(NamedTuple):
    """Is everything that a learner of the margin rule is."""

    rule: MarginRule
    features: FeatureMap
    lengths: tuple[int | None, int | None]
    next_id: int
    notes: dict[str, Any]
    margin: Margin | None


def write(path: Path, learner: Whole) -> None:
    """Writes a learner to a file, at once or not at all."""
    try:
        json.dumps(learner.notes)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`notes` must be plain JSON to be saved: {error}.") from error
    about: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "minout": __version__,
        "rule": asdict(learner.rule),
        "features": _described(learner.features),
        "lengths": learner.lengths,
        "next_id": learner.next_id,
        "notes": learner.notes,
    }
    arrays: dict[str, NDArray[Any]] = {}
    if learner.margin is not None:
        about["margin"], arrays = packed(learner.margin)
    write_archive(path, about, arrays, "The model")


def read(path: Path, features: FeatureMap | None) -> Whole:
    """Reads a learner; `features` must be the map that it was taught with."""
    about, arrays = read_archive(path, FORMAT, VERSION)
    with refusing_foreign(path):
        rule = MarginRule(**about["rule"])
        found = _found(path, about["features"], features)
        margin = unpacked(rule, about["margin"], arrays) if "margin" in about else None
        first, second = about["lengths"]
        return Whole(rule, found, (first, second), about["next_id"], about["notes"], margin)


def _described(features: FeatureMap) -> dict[str, Any]:
    described: dict[str, Any] = {"fingerprint": features.fingerprint}
    for name, kind in _MAPS.items():
        if type(features) is kind:
            settings = {key: getattr(features, key) for key in kind.__dataclass_fields__}
            if "dtype" in settings:
                settings["dtype"] = settings["dtype"].name
            described |= {"name": name, "settings": settings}
    return described


def _found(path: Path, described: dict[str, Any], given: FeatureMap | None) -> FeatureMap:
    wanted = described["fingerprint"]
    if given is None:
        if "name" not in described:
            raise InvalidInputError(
                f"{path} was taught with the feature map {wanted}, a function of yours; "
                "pass it as `features`."
            )
        given = _MAPS[described["name"]](**described["settings"])
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
