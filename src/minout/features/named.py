"""Find a feature map by name, or make one from a function."""

from collections.abc import Callable
from typing import Any

from minout.errors import InvalidInputError
from minout.features.encoder import Encoder
from minout.features.feature_map import FeatureMap
from minout.features.identity import Identity
from minout.features.projection import Projection
from minout.features.scattering import Scattering
from minout.features.text import HashedText

NAMES: dict[str, Callable[[], FeatureMap]] = {
    "identity": Identity,
    "scattering": Scattering,
    "projection": Projection,
    "text": HashedText,
}


def takes_rows(features: FeatureMap) -> bool:
    """Return whether a map takes rows of numbers that all have the same length."""
    return isinstance(features, Identity | Scattering)


def named(features: Any) -> FeatureMap:
    """Return a feature map.

    Parameters
    ----------
    features : str, FeatureMap or callable
        The name of a map ("identity", "scattering", "projection", "text"), a map, or a function
        from a batch to rows.

    Returns
    -------
    FeatureMap
        The map with its defaults, the map itself, or an `Encoder` of the function.

    Examples
    --------
    >>> named("scattering")
    Scattering(image_shape=None, scales=3, orientations=6)
    """
    if isinstance(features, str) and features in NAMES:
        return NAMES[features]()
    if not isinstance(features, type):
        if isinstance(features, FeatureMap):
            return features
        if callable(features):
            return Encoder(features)
    raise InvalidInputError(
        f'features is {features!r}; pass "identity", "scattering", "projection", "text", a map '
        "such as Scattering(image_shape=(32, 32, 3)), or a function from a batch to rows."
    )
