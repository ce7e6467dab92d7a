"""Weights of rows: sample weights, class weights, and their products."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Label
from minout.core import LARGEST_WEIGHT, LEAST_WEIGHT
from minout.errors import InvalidInputError, plural
from minout.features import refuse_masked
from minout.inputs.arguments import checked_weight
from minout.inputs.labels import LabelCodec

BALANCED = "balanced"


class ClassWeights(NamedTuple):
    """The class weights by label, 1 for others; `are_balanced` if `fit` computed them."""

    of: dict[Label, float]
    are_balanced: bool = False

    def at(self, label: Label) -> float:
        """Return the weight of a label."""
        return self.of.get(label, 1.0)

    def of_rows(self, labels: list[Label], sample_weight: Floats | None) -> Floats | None:
        """Return the weight of each row, 0 or one that a learner takes; None if all are 1."""
        if sample_weight is None and not self.of:
            return None
        weights = np.array([self.at(label) for label in labels])
        if sample_weight is not None:
            weights *= sample_weight
        wrong = np.flatnonzero(~_are_valid(weights))
        if len(wrong):
            row = int(wrong[0])
            raise InvalidInputError(
                f"The weight of row {row}, its sample weight times its class weight, is between "
                f"{LEAST_WEIGHT:g} and {LARGEST_WEIGHT:g}, not {float(weights[row])!r}."
            )
        return weights

    def require_labels(self, labels: list[Label]) -> None:
        """Refuse weights of other labels, if a label has none: as in scikit-learn, a mistake."""
        known = set(labels)
        other = [each for each in self.of if each not in known]
        lacking = sorted(known.difference(self.of))
        if other and lacking:
            raise InvalidInputError(
                f"`class_weight` has a weight for {other[0]!r}, which is not in y, and none for "
                f"{lacking[0]!r}; correct the label, or leave it out."
            )

    def as_setting(self, codec: LabelCodec) -> Any:
        """Return the parameter `class_weight` of a classifier that has these weights."""
        if self.are_balanced:
            return BALANCED
        labels = codec.decode(list(self.of)).tolist()
        return dict(zip(labels, self.of.values(), strict=True)) or None


NO_CLASS_WEIGHTS = ClassWeights({})


def check_sample_weight(sample_weight: Any, count: int) -> Floats | None:
    """Return one weight of 0 or more per row, not all of them 0; None if none were given."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "`sample_weight` holds")
    expected = "`sample_weight` is a list with one number per row, but"
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{expected} it holds something else.") from error
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.ndim != 1:
        raise InvalidInputError(f"{expected} has shape {weights.shape}.")
    if len(weights) != count:
        given = f"{plural(count, 'row')}, but {plural(len(weights), 'sample weight')}"
        raise InvalidInputError(f"Got {given}; pass one per row.")
    is_valid = _are_valid(weights)
    if not is_valid.all():
        raise InvalidInputError(
            f"A sample weight is 0, or between {LEAST_WEIGHT:g} and {LARGEST_WEIGHT:g}, "
            f"not {float(weights[~is_valid][0])!r}."
        )
    if not weights.any():
        raise InvalidInputError(
            "Every sample weight is zero, so that no row is left; give a row a weight above 0."
        )
    return weights


def check_class_weight(setting: Any, codec: LabelCodec) -> ClassWeights:
    """Return the class weights of a dict or None; "balanced" is refused: see `balanced`."""
    if setting is None:
        return NO_CLASS_WEIGHTS
    if is_balanced(setting):
        raise InvalidInputError(
            'class_weight="balanced" needs all labels at once, so it works with `fit` only; for '
            "`partial_fit` pass a dict of weights."
        )
    if not isinstance(setting, Mapping):
        shown = repr(setting) if isinstance(setting, str) else type(setting).__name__
        raise InvalidInputError(
            f'`class_weight` is "balanced", a dict of label to weight, or None, not {shown}.'
        )
    return ClassWeights(
        {codec.encode_one(label)[0]: checked_weight(each) for label, each in setting.items()}
    )


def is_balanced(setting: Any) -> bool:
    """Return whether the setting `class_weight` asks for balanced weights."""
    return isinstance(setting, str) and setting == BALANCED


def balanced(labels: list[Label], sample_weight: Floats | None) -> ClassWeights:
    """Return factors that give all labels the same total weight, as in scikit-learn."""
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    totals: dict[Label, float] = {}
    for label, weight in zip(labels, weights.tolist(), strict=True):
        if weight:
            totals[label] = totals.get(label, 0.0) + weight
    mean = sum(totals.values()) / len(totals)
    of = {label: mean / totals[label] for label in sorted(totals)}
    return ClassWeights(of, are_balanced=True)


def _are_valid(weights: Floats) -> Bools:
    is_valid: Bools = (weights == 0.0) | ((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT))
    return is_valid
