"""The margin rule: every separator is the exact optimum over all stored examples of its classes."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from minout.errors import InvalidInputError
from minout.rules.choice import PRICES, SHAPES, Shape

Auto = Literal["auto"]


@dataclass(frozen=True)
class MarginRule:
    """Keeps one separator per pair of classes, each corrected as little as what was taught needs.

    `price` is λ, what a private exception costs: low fits what was taught more closely, high trusts
    it less. `metric` measures in the inverse of the within-class covariance, `prior` starts from
    the linear discriminant, `columns` divides each column by its standard deviation first. "auto"
    chooses them from what was taught, by cross-validation that does not depend on the order;
    a value pins them. With refresh="manual" these, the origin and the scale are renewed by
    `consolidate()` only, never while an example is taught.
    """

    price: float | Auto = "auto"
    metric: bool | Auto = "auto"
    prior: bool | Auto = "auto"
    columns: bool | Auto = "auto"
    refresh: Literal["auto", "manual"] = "auto"

    def __post_init__(self) -> None:
        """Refuses settings that mean nothing."""
        if self.price != "auto" and not (
            isinstance(self.price, int | float | np.integer | np.floating)
            and not isinstance(self.price, bool)
            and 0 < self.price < math.inf
        ):
            raise InvalidInputError(
                f'`price` must be a positive number or "auto", not {self.price!r}.'
            )
        for name in ("metric", "prior", "columns"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_) and value != "auto":
                raise InvalidInputError(f'`{name}` is True, False or "auto", not {value!r}.')
        if self.refresh not in ("auto", "manual"):
            raise InvalidInputError(f'`refresh` is "auto" or "manual", not {self.refresh!r}.')

    def shapes(self) -> tuple[Shape, ...]:
        """Lists what may be chosen, the plainest first."""
        pins = {"columns": self.columns, "metric": self.metric, "prior": self.prior}
        pinned = {name: bool(pin) for name, pin in pins.items() if pin != "auto"}
        return tuple(dict.fromkeys(shape._replace(**pinned) for shape in SHAPES))

    def prices(self) -> tuple[float, ...]:
        """Lists the prices that may be chosen, the lowest first."""
        return PRICES if self.price == "auto" else (float(self.price),)
