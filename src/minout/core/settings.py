"""The settings that a user may set; the others are chosen from the data."""

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from minout.core.choice import HATS, REGIONS, SHAPES, STRENGTHS, Choice
from minout.core.folds import Shape
from minout.core.window import MOST, Window, is_number, window
from minout.errors import InvalidInputError
from minout.maths import Blocks

Auto = Literal["auto"]
Keep = str | int | dict[str, int]
NEAR_CLASSES = 32
"""How many nearest classes of each are near, if the user does not say (`core/scores.py`)."""
MANY_CLASSES = 200  # the number of classes up to which all pairs are near, if the user does not say
MOST_COLUMNS = 200  # columns are expanded to at most so many, if the user does not say


@dataclass(frozen=True)
class Settings:
    """The settings of the exact engine: each is "auto" or a value; see `Learner`."""

    C: float | Auto = "auto"
    whiten: bool | Auto = "auto"
    lda_prior: bool | Auto = "auto"
    standardize: bool | Auto = "auto"
    refresh: Literal["auto", "manual"] = "auto"
    near_classes: int | Literal["auto", "all"] = "auto"
    regions: int | Auto = "auto"
    expand: int | Auto | None = "auto"
    keep: Keep = "all"
    missing: Literal["error", "mean"] = "error"
    blocks: Blocks = ()

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
        for name, also, words in (
            ("near_classes", ("all", "auto"), ', "all" or "auto"'),
            ("regions", ("auto",), ' or "auto"'),
            ("expand", (None, "auto"), ', None or "auto"'),
        ):
            value = getattr(self, name)
            is_word = (value is None or isinstance(value, str)) and value in also
            if not is_word and not is_number(value):
                raise InvalidInputError(
                    f"`{name}` must be a whole number from 1{words}, not {value!r}."
                )
        if not isinstance(self.missing, str) or self.missing not in ("error", "mean"):
            raise InvalidInputError(f'`missing` must be "error" or "mean", not {self.missing!r}.')
        self._check_keep()
        self._check_blocks()

    def _check_keep(self) -> None:
        if isinstance(self.keep, dict):
            object.__setattr__(self, "keep", dict(self.keep))  # the caller may change theirs
        try:
            window(self.keep)
        except ValueError:
            raise InvalidInputError(
                '`keep` must be "all", a whole number from 1, {"per_label": number} or a time such '
                f'as "30d" or "12h", not {self.keep!r}.'
            ) from None

    def _check_blocks(self) -> None:
        given, end = self.blocks, 0
        is_right = isinstance(given, list | tuple)
        for pair in given if is_right else ():
            is_right = is_right and _is_block(pair, after=end)
            end = pair[1] if is_right else end
        if not is_right:
            raise InvalidInputError(
                "`blocks` must be pairs (start, stop) of column numbers, ascending and without "
                f"overlap, such as [(2, 6), (6, 9)], not {given!r}."
            )
        found = tuple((int(start), int(stop)) for start, stop in given)
        object.__setattr__(self, "blocks", found)

    @cached_property
    def window(self) -> Window | None:
        """What the setting `keep` means; None if everything is kept."""
        return window(self.keep)

    def near(self, classes: int, choice: Choice) -> int | None:
        """Return how many nearest classes of each are near; None if all pairs are."""
        if not choice.lda_prior:  # far pairs start from the discriminant
            return None
        return self._near(classes)

    def turns_far(self, classes: int) -> bool:
        """Return whether this number of classes is the first one with far pairs."""
        return (
            self.refresh == "auto"
            and self.lda_prior is not False
            and self._near(classes) is not None
            and self._near(classes - 1) is None
        )

    def _near(self, classes: int) -> int | None:
        if isinstance(self.near_classes, str):
            is_many = self.near_classes == "auto" and classes > MANY_CLASSES
            return NEAR_CLASSES if is_many else None
        return self.near_classes if classes > self.near_classes + 1 else None

    def shapes(self, classes: int = 0) -> tuple[Shape, ...]:
        """Return the shapes that may be chosen with a number of classes, the simplest first."""
        pinned = {
            name: bool(getattr(self, name))
            for name in ("standardize", "whiten", "lda_prior")
            if not _is_auto(getattr(self, name))
        }
        found = dict.fromkeys(shape._replace(**pinned) for shape in SHAPES)
        shapes = tuple(shape for shape in found if shape.free_bias or not shape.lda_prior)
        with_prior = tuple(shape for shape in shapes if shape.lda_prior)
        return with_prior if with_prior and self._near(classes) is not None else shapes

    def strengths(self) -> tuple[float, ...]:
        """Return the values of C that may be chosen, the highest first."""
        return STRENGTHS if isinstance(self.C, str) else (float(self.C),)

    def region_counts(self, labels: int = 0) -> tuple[int, ...]:
        """Return the numbers of regions per label that may be chosen, the lowest first."""
        if not isinstance(self.regions, str):
            return (self.regions,)
        return tuple(each for each in REGIONS if each == 1 or each * labels <= MANY_CLASSES)

    def hat_counts(self, columns: int = 0) -> tuple[int, ...]:
        """Return the numbers of hat functions per column that may be chosen, the lowest first."""
        if self.expand is None:
            return (0,)
        if not isinstance(self.expand, str):
            return (self.expand,)
        return tuple(each for each in HATS if not each or (1 + each) * columns <= MOST_COLUMNS)

    def first_choice(self) -> Choice:
        """Return the settings to use until there are enough examples for cross-validation."""
        C, regions, hats = self.strengths()[0], self.region_counts()[0], self.hat_counts()[0]
        shape = self.shapes()[0]._replace(free_bias=True)
        return Choice(*shape, C=C, regions=regions, hats=hats)


def _is_block(pair: Any, *, after: int) -> bool:
    is_pair = isinstance(pair, list | tuple) and len(pair) == 2
    are_whole = is_pair and all(
        isinstance(each, int | np.integer) and not isinstance(each, bool) for each in pair
    )
    return are_whole and after <= pair[0] < pair[1] <= MOST


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"
