"""The scikit-learn estimator: fit, teach on, ask, correct, take back, explain."""

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from minout._typing import Floats, Id
from minout.classifier._labels import given_back
from minout.classifier._model import Model, Taught
from minout.classifier._parameters import new_learner, parameters_of
from minout.classifier._teaching import Lesson, first_lesson, next_lesson, teach, teach_plain
from minout.classifier._unknown import with_unknown
from minout.classifier.picture import Images, Picture, draw
from minout.engine import (
    Audit,
    Certificate,
    Consolidation,
    Explanation,
    StepReport,
    Suspect,
    WhatIf,
)
from minout.errors import MinoutError
from minout.features import FeatureMap, Identity
from minout.learner import Learner

Auto = Literal["auto"]


class MinoutClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifies, is taught one example at a time in any order of the labels, and does not forget.

    It is `minout.Learner` with the margin rule and scikit-learn's manners. `fit` starts anew;
    `partial_fit` teaches on, and labels may appear at any time. The parameters count when a model
    begins: at `fit`, or at the first `partial_fit`.

    `price`, `metric`, `prior`, `columns` and `refresh` are those of `MarginRule`: "auto" chooses
    from what was taught, so nothing needs tuning or scaling. `features` is "identity",
    "scattering" for images, "random_fourier", a map such as `Scattering(…)`, or a function of yours
    that makes rows of a batch; such a function gets X as it comes. `image_shape` is that of the
    image in a row, (height, width) or (height, width, channels), for "scattering"; without it a
    row whose length is a square is a gray image.

    X is an array or a pandas or polars frame of numbers; y holds strings or whole numbers. Reports
    and certificates name labels as the learner keeps them: True as 1, and 2.0 as 2.

    Threads may share a classifier: who predicts sees it between two examples, never halfway, and
    two threads that teach take turns, call by call.

    >>> import numpy as np
    >>> from minout import MinoutClassifier
    >>> X, y = np.array([[1.0, 0.0], [0.8, 0.1], [0.0, 1.0]]), ["cat", "cat", "dog"]
    >>> classifier = MinoutClassifier().partial_fit(X, y, ids=["tom", "kit", "rex"])
    >>> classifier.partial_fit([[-1.0, -1.0]], ["fish"]).classes_.tolist()
    ['cat', 'dog', 'fish']
    >>> classifier.certificate_.moved  # what the fish moved
    (('cat', 'fish'), ('dog', 'fish'))
    >>> classifier.predict([[0.9, 0.2], [-0.5, -0.8]]).tolist()
    ['cat', 'fish']
    >>> classifier.explain([0.9, 0.2]).supports[0].id
    'tom'
    >>> report = classifier.correct("kit", "dog")
    >>> classifier.all_ids_, classifier.audit().ok
    (['tom', 'kit', 'rex', 0], True)
    """

    def __init__(
        self,
        *,
        C: float | Auto = "auto",
        whiten: bool | Auto = "auto",
        lda_prior: bool | Auto = "auto",
        standardize: bool | Auto = "auto",
        refresh: Literal["auto", "manual"] = "auto",
        features: str | FeatureMap | Callable[[Any], Any] = "identity",
        image_shape: tuple[int, ...] | None = None,
    ) -> None:
        self.C = C
        self.whiten = whiten
        self.lda_prior = lda_prior
        self.standardize = standardize
        self.refresh = refresh
        self.features = features
        self.image_shape = image_shape

    def fit(self, X: Any, y: Any, ids: Any = None) -> Self:
        """Starts anew, teaches all rows one by one, and consolidates.

        The model is then a function of the examples alone, whatever order they came in. If the
        call is refused or interrupted, the classifier stays as it was.
        """
        with self._turn():
            model, lesson = self._begin(X, y, None, ids)
            taught = teach(model.learner, lesson)
            certificate = model.learner.consolidate().certificate
            model.last = taught._replace(certificates=[certificate])
            self._model = model
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, ids: Any = None) -> Self:
        """Teaches all rows one by one, in their order, after what was taught before.

        `ids` are yours, one per row: strings or whole numbers; otherwise each gets the next free
        number. An id that is stored with the same row and label changes nothing; with another one
        the call is refused: see `correct`. `classes` only announces labels: they are in `classes_`
        from then on, with the probability 0 until an example comes. Others may come all the same.

        If the call is refused, nothing has changed. If it is interrupted, the examples before the
        interruption are kept; `ids_` lists them.
        """
        with self._turn():
            model = self._model_or_none()
            if model is None:
                self._teach(*self._begin(X, y, classes, ids))
            elif classes is not None or not teach_plain(model, X, y, ids):
                self._teach(model, next_lesson(model, X, y, classes, ids))
        return self

    def predict(self, X: Any, unknown: Any = None) -> NDArray[Any]:
        """Gives the class with the highest score for each row of X; ties go to the first.

        With `unknown`, that label is given where every unit is clipped: none of these.
        """
        model = self._fitted()
        rows = model.rows(X)
        if unknown is None:
            return given_back(model.learner.predict(rows), model.spelling.dtype)
        seen, scores = model.scored(rows)
        labels = given_back(seen[scores.argmax(axis=1)], model.spelling.dtype)
        return with_unknown(labels, scores.max(axis=1) <= 0.0, unknown)

    def predict_proba(self, X: Any) -> Floats:
        """Gives a probability for each class, (n, classes), in the order of `classes_`.

        It is exp(sharpness · score), normalised; the sharpness is chosen so that the labels of
        stored rows that were held out were likeliest. It presumes that one of the classes is
        right. A class that was only announced has 0.
        """
        model = self._fitted()
        return model.spread(*model.shared(model.rows(X)), 0.0)

    def decision_function(self, X: Any) -> Floats:
        """Gives the scores (n, classes): the least activation of each class's neurons, unclipped.

        For two classes, as scikit-learn wants it, that of the second alone, (n,): the first's is
        its negation. A class that was only announced has -inf, and one that is alone has inf.
        """
        model = self._fitted()
        scores = model.spread(*model.scored(model.rows(X)), -np.inf)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def what_if(self, X: Any, y: Any) -> list[WhatIf]:
        """Says for each row, asked alone, whom learning it would disturb; learns nothing."""
        model = self._fitted()
        rows, labels, _ = model.rows_and_labels(X, y)
        return [model.learner.what_if(x, label) for x, label in zip(rows, labels, strict=True)]

    def explain(self, x: Any) -> Explanation:
        """Says which separator decides about one row, by how much, and which examples bear it."""
        model = self._fitted()
        return model.learner.explain(model.row(x))

    def picture(self, x: Any, images: Images | None = None) -> Picture:
        """Draws `explain(x)` for an image x; `picture(x).savefig("why.png")` writes it down.

        `images` gives the images of stored examples by their ids; without a feature map the stored
        rows are their images.
        """
        learner = self._fitted().learner
        explanation = self.explain(x)
        if not isinstance(learner.features, Identity):
            explanation = explanation._replace(separator=np.empty(0))
        elif images is None:
            images = {each.id: learner.example(each.id)[0] for each in explanation.supports}
        return draw(explanation, x, self.image_shape, images)

    def correct(self, id: Id, y: Any) -> StepReport:
        """Gives a stored example another label, in one step."""
        with self._turn():
            model = self._fitted()
            before = model.spelling
            label, spelling = model.label(y)
            model.spell(spelling)
            try:
                report = model.learner.correct(id, label)
            except MinoutError:
                model.spell(before)
                raise
            model.certify(report.certificate)
        return report

    def forget(self, ids: Id | Iterable[Id]) -> Certificate:
        """Takes examples out; after `consolidate()` the model is the one that never saw them."""
        with self._turn():
            model = self._fitted()
            certificate = model.learner.forget(ids)
            model.certify(certificate)
        return certificate

    def forget_class(self, y: Any) -> Certificate:
        """Takes out every example of a label, and the label with them."""
        with self._turn():
            model = self._fitted()
            label, _ = model.label(y)
            certificate = model.learner.forget_class(label)
            others = tuple(each for each in model.spelling.announced if each != label)
            model.spell(model.spelling._replace(announced=others))
            model.certify(certificate)
        return certificate

    def consolidate(self) -> Consolidation:
        """Renews everything that depends on order and settles every separator tightly."""
        with self._turn():
            model = self._fitted()
            done = model.learner.consolidate()
            model.certify(done.certificate)
        return done

    def audit(self) -> Audit:
        """Computes every margin of every stored example again, plainly, and compares."""
        return self._fitted().learner.audit()

    def suspects(self, n: int = 10) -> list[Suspect]:
        """Lists the n stored examples that lean most on their private parameter, the most first."""
        return self._fitted().learner.suspects(n)

    def save(self, file: str | Path) -> None:
        """Writes everything to one file; a classifier that is loaded from it goes on the same."""
        self._fitted().learner.save(file)

    @classmethod
    def load(
        cls, file: str | Path, features: str | FeatureMap | Callable[[Any], Any] | None = None
    ) -> Self:
        """Reads a classifier, or a learner, that was saved.

        If it was taught with a function of yours as its feature map, pass that again.
        """
        learner = Learner.load(file, features)
        classifier = cls(**parameters_of(learner, features))
        classifier._model = Model.around(learner)
        return classifier

    @property
    def learner_(self) -> Learner:
        """Is the learner itself."""
        return self._has("learner_").learner

    @property
    def classes_(self) -> NDArray[Any]:
        """Lists the labels taught and announced, sorted, in the dtype in which they came."""
        model = self._has("classes_")
        return model.classes(model.learner.classes)

    @property
    def n_features_in_(self) -> int:
        """Counts the columns of X."""
        columns: int = self._has("n_features_in_").columns.n_features_in_
        return columns

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Lists the names of the columns of X, if it came as a frame with names."""
        names: NDArray[Any] = self._has("feature_names_in_").columns.feature_names_in_
        return names

    @property
    def misfits_(self) -> list[Id]:
        """Lists the stored examples on the wrong side of a separator of their class."""
        return self._has("misfits_").learner.misfits

    @property
    def ids_(self) -> list[Id]:
        """Lists the ids that the last `fit` or `partial_fit` taught."""
        return list(self._has("ids_").last.ids)

    @property
    def all_ids_(self) -> list[Id]:
        """Lists the ids of all that is stored, in the order in which they came."""
        return self._has("all_ids_").learner.ids

    @property
    def certificates_(self) -> list[Certificate]:
        """Lists what held after each row of the last `partial_fit`; after other calls, one."""
        return list(self._has("certificates_").last.certificates)

    @property
    def certificate_(self) -> Certificate:
        """States what holds for every stored example after the last change."""
        certificates = self._has("certificate_").last.certificates
        if not certificates:
            raise AttributeError(
                "There is no certificate: the last call was interrupted, "
                "or nothing has changed since this classifier was loaded."
            )
        return certificates[-1]

    def __sklearn_is_fitted__(self) -> bool:
        """Says whether there is a model."""
        return "_model" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        """Gives a state that later teaching does not change; the lock is left out.

        What the learner holds is copied here, under the turn: whoever asked goes through it later.
        """
        with self._turn():
            state = {name: each for name, each in super().__getstate__().items() if name != "_lock"}
            if (model := self._model_or_none()) is not None:
                rest = {name: each for name, each in vars(model).items() if name != "learner"}
                state["_model"] = (rest, model.learner.__getstate__())
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes over what was copied."""
        super().__setstate__(state)
        if isinstance(taken := vars(self).get("_model"), tuple):
            model, learner = Model.__new__(Model), Learner.__new__(Learner)
            learner.__setstate__(taken[1])
            vars(model).update(taken[0], learner=learner)
            self._model = model

    def _turn(self) -> AbstractContextManager[object]:
        # Whose turn it is to change something. Made on first use: scikit-learn wants __init__ bare.
        lock: AbstractContextManager[object] = self.__dict__.setdefault("_lock", threading.RLock())
        return lock

    def _begin(self, X: Any, y: Any, classes: Any, ids: Any) -> tuple[Model, Lesson]:
        return first_lesson(new_learner(self.get_params(deep=False)), X, y, classes, ids)

    def _teach(self, model: Model, lesson: Lesson) -> None:
        learner, before, stored = model.learner, model.spelling, len(model.learner)
        model.spell(lesson.spelling)
        try:
            model.last = teach(learner, lesson)
        except MinoutError:
            model.spell(before)
            raise
        except BaseException:  # an interruption
            if len(learner) > stored:
                model.last = Taught(learner.ids[stored:], [])
                self._model = model
            raise
        self._model = model

    def _model_or_none(self) -> Model | None:
        model: Model | None = vars(self).get("_model")
        return model

    def _fitted(self) -> Model:
        model = self._model_or_none()
        if model is None:
            check_is_fitted(self)  # says so in scikit-learn's words
            raise AssertionError
        return model

    def _has(self, attribute: str) -> Model:
        model = self._model_or_none()
        if model is None:
            raise AttributeError(f"This classifier has not been fitted; it has no `{attribute}`.")
        return model
