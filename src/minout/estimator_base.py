"""The learner that a classifier holds: in RAM, or in a folder; and what its last call changed."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from minout._typing import Id, Label
from minout.api import Methods
from minout.engine import (
    Certificate,
    Choice,
    Consolidation,
    Refresh,
    Settings,
    State,
    StepReport,
)
from minout.errors import InvalidInputError, UnwritableError
from minout.estimator_inputs import labels_of, with_labels
from minout.features import Scattering
from minout.inputs import Schema
from minout.inputs.weights import BALANCED, check_class_weight
from minout.learner import Learner
from minout.model_store import Durability
from minout.readwrite import ReadWriteLock
from minout.steps import Change
from minout.store import holds_model

R = TypeVar("R")

SETTINGS = [each.name for each in fields(Settings) if each.name not in ("missing", "blocks")]
"""The parameters that are passed on to the learner as they are."""


class LastCall(NamedTuple):
    """What the last calls changed.

    `ids` are those that the last `fit` or `partial_fit` taught, `reports` and `certificates` those
    of the last call that changed something.
    """

    ids: list[Id]
    reports: list[StepReport]
    certificates: list[Certificate]


NOTHING_YET = LastCall([], [], [])


class HeldLearner(Methods, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Hold a learner for a classifier, whose parameters are set by its `__init__`."""

    features: Any
    image_shape: Any
    memory: Any
    column_kinds: Mapping[str, str] | None
    class_weight: Any
    store: str | Path | None
    durability: Durability

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model, here or in the folder."""
        return self._opened() is not None

    def __getstate__(self) -> dict[str, Any]:
        """Return plain values and arrays that later teaching does not change, without the lock.

        They name no types of minout, so that skops and others can store them.
        """
        with self._changing():
            state = {name: each for name, each in super().__getstate__().items() if name != "_lock"}
            if "_model" in state:
                learner, last = state["_model"]
                state["_model"] = learner.__getstate__(), _plain(last)
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the classifier from the result of `__getstate__`."""
        super().__setstate__(state)
        if "_model" in state:
            learner = Learner.__new__(Learner)
            learner.__setstate__(state["_model"][0])
            self._model = learner, _last_call(state["_model"][1])

    # The hooks of `Methods`

    def _read(self, query: Callable[[State, Schema], R]) -> R:
        return self._fitted()._read(query)

    def _change(self, step: Callable[[State, Schema], Change[R]], *, is_long: bool = False) -> R:
        with self._changing():
            learner = self._fitted(to_change=True)
            result = learner._change(step, is_long=is_long)
            self._model = learner, _after(self._last(), [result], learner)
        return result

    def _change_each(
        self, items: Callable[[State, Schema], list[Any]], step: Callable[..., Any]
    ) -> list[StepReport]:
        with self._changing():
            learner = self._fitted(to_change=True)
            reports = learner._change_each(items, step)
            self._model = learner, _after(self._last(), reports, learner)
        return reports

    def _known_label(self, y: Any, state: State, schema: Schema) -> tuple[Label, Schema]:
        label, codec = labels_of(state, schema).encode_one(y)
        return label, with_labels(schema, codec, schema.class_weights)

    # The learner of this classifier, in RAM or in a folder

    def _changing(self) -> AbstractContextManager[object]:
        # The lock for calls that change the model. Made on first use: scikit-learn estimators only
        # store parameters in __init__.
        lock: ReadWriteLock = self.__dict__.setdefault("_lock", ReadWriteLock())
        return lock.preparing()  # made anew in a forked child

    def _new_learner(self) -> Learner:
        if self.store is None and self.durability != "batch":
            raise InvalidInputError(
                "`durability` is for a model in a folder; name the folder as `store`, or leave "
                "`durability` out."
            )
        return Learner(**self._parameters())

    def _parameters(self) -> dict[str, Any]:
        features = self.features
        if isinstance(features, str) and features == "scattering":
            features = Scattering(self.image_shape)
        settings = {name: getattr(self, name) for name in SETTINGS}
        others = {"memory": self.memory, "column_kinds": self.column_kinds}
        return {**settings, **others, "features": features}

    def _require_empty_store(self) -> None:
        learner = self._stored()
        if learner is not None:
            learner.close()
            raise InvalidInputError(
                f"There is already a model in {self.store}, and `fit` starts a new one; use "
                "`partial_fit` to teach it more, or name another folder."
            )

    def _stored(self, *, to_change: bool = False) -> Learner | None:
        # The model in the folder; unless it is to be changed, one that cannot be written to is
        # opened to be read only.
        if self.store is None or not holds_model(Path(self.store)):
            return None
        try:
            return self._open(read_only=False)
        except UnwritableError:
            if to_change:
                raise
            return self._open(read_only=True)

    def _open(self, *, read_only: bool) -> Learner | None:
        assert self.store is not None
        learner = Learner.open(
            self.store, durability=self.durability, read_only=read_only, **self._parameters()
        )
        try:
            if learner.is_new:
                learner.close()
                return None
            self._require_class_weight(learner)
        except BaseException:
            learner.close()
            raise
        return learner

    def _require_class_weight(self, learner: Learner) -> None:
        wanted, has = self.class_weight, learner.schema.class_weights
        if isinstance(wanted, str) and wanted == BALANCED:
            is_same = has.are_balanced
        else:
            is_same = check_class_weight(wanted, learner._read(labels_of)) == has
        if not is_same:
            raise InvalidInputError(
                f"The model in {self.store} was made with "
                f"class_weight={learner._read(class_weight_of)!r}, not {wanted!r}; pass the same."
            )

    def _keep(self, learner: Learner, last: LastCall) -> None:
        # Make a learner that of this classifier, and keep it in the folder, if there is one.
        if self.store is not None and learner is not self._learner_or_none():
            learner.store_in(self.store, durability=self.durability)
        self._model = learner, last

    def _learner_or_none(self) -> Learner | None:
        model: tuple[Learner, LastCall] | None = vars(self).get("_model")
        return None if model is None else model[0]

    def _last(self) -> LastCall:
        last: LastCall = vars(self)["_model"][1]
        return last

    def _learner_or_stored(self, *, to_change: bool = False) -> Learner | None:
        # The learner of this classifier, or the one in its folder; call it under the lock.
        learner = self._learner_or_none()
        if learner is None or (to_change and learner.is_read_only):
            learner = self._stored(to_change=to_change)
            if learner is not None:
                self._model = learner, NOTHING_YET
        return learner

    def _opened(self, *, to_change: bool = False) -> Learner | None:
        learner = self._learner_or_none()
        if self.store is None or (learner is not None and not to_change):
            return learner
        with self._changing():
            return self._learner_or_stored(to_change=to_change)

    def _fitted(self, *, to_change: bool = False) -> Learner:
        learner = self._opened(to_change=to_change)
        if learner is None:
            check_is_fitted(self)  # raises scikit-learn's NotFittedError
            raise AssertionError
        return learner

    def _has(self, attribute: str) -> Learner:
        learner = self._opened()
        if learner is None:
            raise AttributeError(f"This classifier has not been fitted; it has no `{attribute}`.")
        return learner


def class_weight_of(state: State, schema: Schema) -> Any:
    """Return the parameter of a classifier that has the class weights of a learner."""
    weights = schema.class_weights
    if weights.are_balanced:
        return BALANCED
    labels = list(weights.of)
    named = labels_of(state, schema).decode(labels).tolist() if labels else []
    return dict(zip(named, weights.of.values(), strict=True)) or None


def _after(last: LastCall, results: list[Any], learner: Learner) -> LastCall:
    # What is kept of a change: no id of a forgotten example.
    reports, certificates = [], []
    for result in results:
        certificate = result
        if isinstance(result, StepReport | Consolidation):
            certificate = result.certificate
        if isinstance(result, StepReport):
            reports.append(result)
        if isinstance(certificate, Certificate):
            certificates.append(
                certificate._replace(
                    misfits=tuple(each for each in certificate.misfits if each in learner),
                    cleared=tuple(each for each in certificate.cleared if each in learner),
                    forgotten=(),
                )
            )
    return LastCall([each for each in last.ids if each in learner], reports, certificates)


def _plain(last: LastCall) -> tuple[list[Any], ...]:
    # As tuples, which name no type of minout.
    reports = []
    for example_id, label, certificate, refresh, was_right in last.reports:
        plain = refresh and (refresh.seconds, tuple(refresh.choice), refresh.chose_settings)
        reports.append((example_id, label, tuple(certificate), plain, was_right))
    return last.ids, reports, [tuple(each) for each in last.certificates]


def _last_call(plain: Any) -> LastCall:
    ids, listed, certificates = plain
    reports = []
    for example_id, label, certificate, refresh, was_right in listed:
        made = refresh and Refresh(refresh[0], Choice(*refresh[1]), *refresh[2:])
        reports.append(StepReport(example_id, label, Certificate(*certificate), made, was_right))
    return LastCall(list(ids), reports, [Certificate(*each) for each in certificates])
