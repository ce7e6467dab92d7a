"""Weights of rows: sample weights, class weights, and their products."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Label
from minout.engine import LARGEST_WEIGHT, LEAST_WEIGHT
from minout.errors import InvalidInputError
from minout.features import refuse_masked
from minout.inputs.arguments import checked_weight
from minout.inputs.labels import LabelCodec

BALANCED = "balanced"


class ClassWeights(NamedTuple):
    """The class weights in effect, by label of the learner; other labels have weight 1.

    `are_balanced` says that they were computed from the labels of `fit`.
    """

    of: dict[Label, float]
    are_balanced: bool = False

    def at(self, label: Label) -> float:
        """Return the weight of a label."""
        return self.of.get(label, 1.0)

    def of_rows(self, labels: list[Label], sample_weight: Floats | None) -> Floats | None:
        """Return the weight of each row; None if all are 1.

        A weight of 0 stays 0; any other must be one that a learner takes.
        """
        if sample_weight is None and not self.of:
            return None
        weights = np.array([self.at(label) for label in labels])
        if sample_weight is not None:
            weights *= sample_weight
        off = (weights != 0.0) & ~((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT))
        if off.any():
            row = int(np.flatnonzero(off)[0])
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

    def to_notes(self) -> dict[str, Any] | None:
        """Return plain values for the notes of a learner."""
        if not self.of and not self.are_balanced:
            return None
        return {"balanced": self.are_balanced, "weights": [[*each] for each in self.of.items()]}

    @classmethod
    def from_notes(cls, notes: dict[str, Any] | None) -> "ClassWeights":
        """Return the class weights that `to_notes` described."""
        if notes is None:
            return NO_CLASS_WEIGHTS
        return cls(dict(notes["weights"]), notes["balanced"])


NO_CLASS_WEIGHTS = ClassWeights({})


def check_sample_weight(sample_weight: Any, count: int) -> Floats | None:
    """Return one weight of 0 or more per row, not all of them 0; None if none were given."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "`sample_weight` holds")
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "`sample_weight` is a list with one number per row, but it holds something else."
        ) from error
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.ndim != 1:
        raise InvalidInputError(
            f"`sample_weight` is a list with one number per row, but has shape {weights.shape}."
        )
    if len(weights) != count:
        raise InvalidInputError(
            f"There are {count} rows, but {len(weights)} sample weights; pass one per row."
        )
    is_valid = (weights == 0.0) | ((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT))
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
    if isinstance(setting, str) and setting == BALANCED:
        raise InvalidInputError(
            'class_weight="balanced" needs all labels at once, so it works with `fit` only; for '
            "`partial_fit` pass a dict of weights."
        )
    if not isinstance(setting, Mapping):
        raise InvalidInputError(
            '`class_weight` is "balanced", a dict of label to weight, or None, '
            f"not {_shown(setting)}."
        )
    return ClassWeights(
        {codec.encode_one(label)[0]: checked_weight(each) for label, each in setting.items()}
    )


def balanced(labels: list[Label], sample_weight: Floats | None) -> ClassWeights:
    """Return factors that give all labels the same total weight: n / (labels · count of the label).

    They are computed as in scikit-learn: n and the counts are sums of sample weights.
    """
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    totals: dict[Label, float] = {}
    for label, weight in zip(labels, weights.tolist(), strict=True):
        if weight:
            totals[label] = totals.get(label, 0.0) + weight
    mean = sum(totals.values()) / len(totals)
    of = {label: mean / totals[label] for label in sorted(totals)}
    return ClassWeights(of, are_balanced=True)


def kept_rows(weights: Floats | None) -> Bools | None:
    """Return which rows have a weight above 0; None if all have."""
    return None if weights is None or weights.all() else weights > 0.0


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float) else type(value).__name__
