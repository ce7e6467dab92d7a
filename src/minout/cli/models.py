"""Open a model, and find in it what a command line names."""

import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from minout._typing import Id, Label
from minout.cli.output import Row
from minout.drift import DriftMonitor
from minout.errors import InvalidInputError, MissingDataError, some
from minout.features import Encoder, FeatureMap, UnknownMap, named
from minout.learner import Learner

DRIFT = "drift"
"""The key of the drift monitor in a model's notes."""


def load_model(model: Path, features: str | None = None) -> Learner:
    """Load the newest state of a model, also while another process teaches it."""
    with open_model(model, features, read_only=True) as learner:
        return learner


def open_model(model: Path, features: str | None = None, **options: Any) -> Learner:
    """Open a model that exists; the function of a user may be missing: see `require_features`."""
    if not model.exists():
        raise MissingDataError(f"There is no model {model}; `minout learn` creates one.")
    wanted = feature_map(features)[0]
    own = wanted if isinstance(wanted, Encoder) else UnknownMap()
    learner = Learner.open(model, features=own, **options)
    if wanted is not None and type(wanted) is not type(learner.features):
        learner.close()
        raise InvalidInputError(
            f"This model was made with {learner.features.fingerprint}; --features is for new "
            "models."
        )
    if options.get("read_only") and learner.is_new:
        learner.close()
        raise MissingDataError(f"There is no model {model}; `minout learn` creates one.")
    return learner


def feature_map(text: str | None) -> tuple[FeatureMap | None, tuple[int, int] | None]:
    """Return the map that --features names, and the size to which it resizes images.

    Only a name on the command line is imported, never one in a model's file. As with `python -m`,
    the current folder is searched too.

    >>> feature_map("scattering:32x24")[1]
    (32, 24)
    """
    if text is None:
        return None, None
    name, _, rest = text.partition(":")
    size = re.fullmatch(r"(\d{1,4})x(\d{1,4})", rest)
    if size:
        return named(name), (int(size[1]), int(size[2]))
    return (named(name), None) if not rest else (named(_imported(name, rest)), None)


def _imported(module: str, name: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever the module raises when it is imported
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise InvalidInputError(
            f"--features {module}:{name} could not be imported: {reason}; name "
            "package.module:function, or a size such as scattering:32x32."
        ) from error
    if isinstance(found, type) or not (callable(found) or isinstance(found, FeatureMap)):
        raise InvalidInputError(
            f"--features {module}:{name} is not a function from a batch to rows, but "
            f"{type(found).__name__}."
        )
    return found


def require_features(learner: Learner) -> Learner:
    """Return the learner; raise an error if the user's function that it needs was not named."""
    if isinstance(learner.features, UnknownMap):
        raise InvalidInputError(
            f"This model was taught with {learner.features.fingerprint}; name the function with "
            "--features package.module:function, because minout never imports code that only a "
            "model's file names."
        )
    return learner


def require_examples(learner: Learner) -> Learner:
    """Return the learner, or refuse one from which everything was forgotten."""
    if not len(learner):
        raise InvalidInputError("This model has no examples; teach it some first.")
    return learner


def require_id(learner: Learner, text: str) -> Id:
    """Return the stored id that a text stands for: the text, or the number that it writes."""
    found = learner.find_id(text)
    if found is None:
        raise InvalidInputError(f"There is no example {text!r} in this model.")
    return found


def require_stored_label(learner: Learner, text: str) -> Label:
    """Return the label of the model that a text stands for."""
    (label,) = learner.labels_of([text])
    if label not in learner.classes.tolist():
        raise InvalidInputError(
            f"No example has the label {text!r}; the labels are: {some(learner.classes.tolist())}."
        )
    return label


def load_drift(learner: Learner) -> tuple[DriftMonitor, Row | None]:
    """Return the drift monitor that is kept in a model's notes, and the last drift it reported."""
    values: Any = learner.notes.get(DRIFT)
    try:
        return DriftMonitor.from_json(values["monitor"]), values["last"]
    except (InvalidInputError, KeyError, TypeError):  # there is none, or it is a note of the user
        return DriftMonitor(), None


def store_drift(learner: Learner, monitor: DriftMonitor, last: Row | None) -> None:
    """Keep a drift monitor in a model's notes."""
    learner.notes[DRIFT] = {"monitor": monitor.to_json(), "last": last}


def drop_old_labels(learner: Learner) -> None:
    """Remove the drift monitor of a model if it names labels that the model no longer has."""
    if DRIFT in learner.notes:
        labels = load_drift(learner)[0].to_json()["labels"]
        if not set(labels) <= set(learner.classes.tolist()):
            del learner.notes[DRIFT]
