"""The settings that a user may set; the others are chosen from the data."""

import math
import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np

from minout.engine.choice import SHAPES, STRENGTHS, Choice, Shape
from minout.errors import InvalidInputError

Auto = Literal["auto"]


@dataclass(frozen=True)
class Settings:
    """The settings of the exact engine: each is "auto" or a value; see `Learner`."""

    C: float | Auto = "auto"
    whiten: bool | Auto = "auto"
    lda_prior: bool | Auto = "auto"
    standardize: bool | Auto = "auto"
    refresh: Literal["auto", "manual"] = "auto"

    def __post_init__(self) -> None:
        """Check the settings; NumPy's numbers become Python's, which a file can hold."""
        for name, value in vars(self).items():
            if isinstance(value, np.floating):
                object.__setattr__(self, name, float(value))
            elif isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
            elif isinstance(value, int) and value > sys.float_info.max:
                object.__setattr__(self, name, math.inf)
        if not _is_auto(self.C) and not (
            isinstance(self.C, int | float)
            and not isinstance(self.C, bool)
            and 0 < self.C < math.inf
            and 0 < 1.0 / (2.0 * float(self.C)) < math.inf
        ):
            raise InvalidInputError(f'`C` must be a positive number or "auto", not {self.C!r}.')
        for name in ("whiten", "lda_prior", "standardize"):
            value = getattr(self, name)
            if not isinstance(value, bool) and not _is_auto(value):
                raise InvalidInputError(f'`{name}` must be True, False or "auto", not {value!r}.')
        if not isinstance(self.refresh, str) or self.refresh not in ("auto", "manual"):
            raise InvalidInputError(f'`refresh` must be "auto" or "manual", not {self.refresh!r}.')

    def shapes(self) -> tuple[Shape, ...]:
        """Return the shapes that may be chosen, the simplest first."""
        pinned = {
            name: bool(getattr(self, name))
            for name in Shape._fields
            if not _is_auto(getattr(self, name))
        }
        return tuple(dict.fromkeys(shape._replace(**pinned) for shape in SHAPES))

    def strengths(self) -> tuple[float, ...]:
        """Return the values of C that may be chosen, the highest first."""
        return STRENGTHS if isinstance(self.C, str) else (float(self.C),)

    def first_choice(self) -> Choice:
        """Return the settings to use until there are enough examples for cross-validation."""
        return Choice(*self.shapes()[0], C=self.strengths()[0])


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"
