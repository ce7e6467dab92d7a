"""From a classifier's parameters to a new learner, and back."""

from typing import Any

from minout.features import FeatureMap, Identity, RandomFourier, Scattering
from minout.learner import Learner

SETTINGS = ("C", "whiten", "lda_prior", "standardize", "refresh")
"""The parameters that are passed on to the learner as they are."""


def new_learner(parameters: dict[str, Any]) -> Learner:
    """Makes a learner, or says which parameter means nothing."""
    features = parameters["features"]
    if isinstance(features, str) and features == "scattering":
        features = Scattering(parameters["image_shape"])
    return Learner(**{name: parameters[name] for name in SETTINGS}, features=features)


def parameters_of(learner: Learner, features: Any = None) -> dict[str, Any]:
    """Gives the parameters of a classifier that would make such a learner.

    `features` is the user's own map, if there is one; the others are named where they have a name.
    """
    settings = {name: getattr(learner.settings, name) for name in SETTINGS}
    return settings | (_named(learner.features) if features is None else {"features": features})


def _named(features: FeatureMap) -> dict[str, Any]:
    if features == Identity():
        return {"features": "identity"}
    if features == RandomFourier():
        return {"features": "random_fourier"}
    if isinstance(features, Scattering) and features == Scattering(features.image_shape):
        return {"features": "scattering", "image_shape": features.image_shape}
    return {"features": features}
