"""The scikit-learn estimator: fit, partial_fit, predict, and the methods of a learner."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from minout import core, steps
from minout._typing import Floats, Id
from minout.api import predicted, probabilities, scores
from minout.codecs import Codec, memory_name
from minout.core import Certificate, Executor, State, StepReport, WhatIf
from minout.core.settings import Keep
from minout.estimator_base import (
    NOTHING_YET,
    SETTINGS,
    HeldLearner,
    LastCall,
    RowFacts,
    batch_of,
    checked_rows,
    checked_rows_and_labels,
)
from minout.features import FeatureMap, HashedText, Identity, Scattering, name_of
from minout.inputs import Schema, known_rows
from minout.inputs.labels import with_unknown
from minout.learner import Auto, Learner
from minout.picture import Images, Picture, draw
from minout.steps import not_empty
from minout.store import Durability


class MinoutClassifier(HeldLearner):
    """An online classifier that stores every example and reports what each one changed.

    `fit` starts a new model, as `consolidate()` makes it: it does not depend on the order of the
    rows. `partial_fit` teaches more rows, one by one; new labels may appear at any time. Everything
    else is as in `Learner`, whose methods this classifier has, too.

    Threads may share a classifier: readers always see a consistent state, and calls that change it
    wait for each other.

    Parameters
    ----------
    {settings}
    image_shape : tuple of int, optional
        For "scattering" and `picture`: the shape of the image in a row, (height, width) or
        (height, width, channels). By default a row whose length is a square is a grey image.
    class_weight : dict, "balanced" or None, default=None
        Factors for the weights of the rows of each label. A dict of label to factor; labels that
        are missing have 1. `fit` refuses a dict that has a label which is not in y, unless all
        labels of y are in it. "balanced", for `fit` only, computes factors that give all labels the
        same total weight: n_samples / (n_classes * count of the label).
    store : str or Path, optional
        A file, such as "wines.minout", to which each call commits its changes before it returns,
        and which other processes can use at the same time: see `Learner.open`. By default the model
        is in RAM only. `fit` needs a file that does not exist; `partial_fit`, `predict`, the other
        methods and the attributes continue with the model that is there, which must have been made
        with the same parameters. Calls that only read do not look for changes by other processes;
        `learner_.reload()` does. A copy or a pickle is not connected with the file.
    durability : {"normal", "full"}, default="normal"
        With `store`: whether a power cut may lose the last changes ("normal"), or none ("full");
        see `Learner.open`.

    Notes
    -----
    The parameters are read when a model is started: by `fit`, or by the first `partial_fit`. What
    was learned is in properties whose names end with `_`; `help` shows each.

    X is an array or a SciPy sparse matrix of numbers, a pandas or polars data frame with columns of
    any kind, or a list of records; see the notes of `Learner`. y holds strings or whole numbers.
    With `features="text"`, X is a list, an array or a series of strings.

    In reports and certificates labels are as the learner stores them: True is 1, and 2.0 is 2.

    Examples
    --------
    >>> import numpy as np
    >>> from minout import MinoutClassifier
    >>> X, y = np.array([[1.0, 0.0], [0.8, 0.1], [0.0, 1.0]]), ["cat", "cat", "dog"]
    >>> classifier = MinoutClassifier().partial_fit(X, y, ids=["tom", "kit", "rex"])
    >>> classifier.partial_fit([[-1.0, -1.0]], ["fish"]).classes_.tolist()
    ['cat', 'dog', 'fish']
    >>> classifier.certificate_.moved  # the separators that the fish moved
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
        regions: int | Auto = "auto",
        expand: int | Auto | None = "auto",
        features: str | FeatureMap | Callable[[Any], Any] = "identity",
        refresh: Literal["auto", "manual"] = "auto",
        near_classes: int | Literal["auto", "all"] = "auto",
        keep: Keep = "all",
        memory: str | Codec = "auto",
        column_kinds: Mapping[str, str] | None = None,
        image_shape: tuple[int, ...] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        store: str | Path | None = None,
        durability: Durability = "normal",
    ) -> None:
        self.C = C
        self.whiten = whiten
        self.lda_prior = lda_prior
        self.standardize = standardize
        self.regions = regions
        self.expand = expand
        self.refresh = refresh
        self.near_classes = near_classes
        self.keep = keep
        self.memory = memory
        self.features = features
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.store = store
        self.durability = durability
        self.column_kinds = column_kinds

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        at: Any = None,
        executor: Executor | None = None,
    ) -> Self:
        """Start a new model of all rows.

        The model is that of `partial_fit` and `consolidate()`, computed once: it depends on the set
        of examples only, not on their order. With `keep`, the rows that stay are the newest by
        `at`; without `at`, the last ones. If the call raises an error or is interrupted, the
        classifier stays as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Strings or whole numbers.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts; by default 1. A row of weight 2 is the same as two equal rows,
            and rows of weight 0 are left out.
        ids : sequence of int or str, optional
            One id per row; by default the rows are numbered.
        at : float, datetime or sequence of them, optional
            The times of the examples: one for all rows or one per row; see `Learner.teach`.
        executor : Executor, optional
            Processes that consolidate the model; see `consolidate`.

        Returns
        -------
        self : MinoutClassifier
        """
        with self._changing():
            self._require_empty_store()
            learner, facts = self._new_learner(), RowFacts(None, sample_weight, ids, at)
            learner._store(batch_of(X, y, facts, self.class_weight, is_fit=True))
            certificate = learner.consolidate(executor).certificate
            self._keep(learner, LastCall(learner.ids, [], [certificate]))
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        at: Any = None,
    ) -> Self:
        """Teach more rows, one by one, in their order.

        If the call raises an error or is interrupted (Ctrl-C), the classifier is unchanged: it has
        learned all rows or none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples. A data frame must have the columns of the first one, as scikit-learn
            requires. To teach a table new columns, pass records: `frame.to_dict("records")`.
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            Labels to announce: they are in `classes_` from now on, with probability 0 until they
            have an example, and until `forget` or `forget_class` removes their last one. Labels
            that were not announced may still appear.
        sample_weight : array-like of shape (n_samples,), optional
            As in `fit`.
        ids : sequence of int or str, optional
            One id per row; by default the next free numbers. Teaching a stored id again with the
            same row and weight, and its present or an earlier label, changes nothing; otherwise it
            is an error: see `correct` and `update`.
        at : float, datetime or sequence of them, optional
            As in `fit`.

        Returns
        -------
        self : MinoutClassifier
        """
        with self._changing():
            known = self._learner_or_stored(to_change=True)
            learner = self._new_learner() if known is None else known
            facts = RowFacts(classes, sample_weight, ids, at)
            batch = batch_of(X, y, facts, self.class_weight, is_fit=False)
            reports = learner._teach(batch)
            certificates = [each.certificate for each in reports]
            last = LastCall(_taught_ids(reports), reports, certificates)
            if known is None:
                self._keep(learner, last)
            else:
                self._model = learner, last
        return self

    def predict(self, X: Any, unknown: Any = None) -> NDArray[Any]:
        """Predict the class with the highest score for each row; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        unknown : object, optional
            The label to return for rows whose scores are all 0 or less.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        state = self._state
        found, rejected = predicted(state, _rows(X, state))
        labels = state.schema.label_codec(state.labels).decode(found)
        return labels if unknown is None else with_unknown(labels, rejected, unknown)

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class: see `Learner.probabilities`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns are in the order of `classes_`; 0 for a class without examples.
        """
        state = self._state
        return _spread(state, probabilities(state, _rows(X, state)), 0.0)

    def predict_log_proba(self, X: Any) -> Floats:
        """Estimate the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithm of `predict_proba`; -inf where that is 0.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each class: the smallest margin that the row would have in it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Columns are in the order of `classes_`. For two classes, the score of the second, as
            scikit-learn expects; the score of the first is its negative. A class without examples
            has -inf, a single class has inf.
        """
        state = self._state
        found = _spread(state, scores(not_empty(state), _rows(X, state)), -np.inf)
        return found[:, 1] if found.shape[1] == 2 else found

    def what_if(self, X: Any, y: Any) -> list[WhatIf]:
        """Return which stored examples could be disturbed by each row alone; learn nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        list of WhatIf
            One per row; its `interfered` lists the ids of the examples whose scores, clipped at 0,
            could change.
        """
        state = self._state
        rows, labels, _ = checked_rows_and_labels(X, y, state, state.schema)
        pairs = zip(known_rows(rows, state.schema, state), labels, strict=True)
        return [core.what_if(state, row, label, steps.clock()) for row, label in pairs]

    def picture(self, x: Any, images: Images | None = None) -> Picture:
        """Draw the explanation of an image.

        Parameters
        ----------
        x : array-like of shape (n_features,) or of the image's shape
        images : mapping of id to image, optional
            The images of stored examples. By default the stored rows, if they are the images
            themselves (`features="identity"`).

        Returns
        -------
        matplotlib.figure.Figure
        """
        learner, explanation = self._fitted(), self.explain(x)
        if not isinstance(learner.features, Identity):
            explanation = explanation._replace(separator=np.empty(0))
        elif images is None:
            images = {each.id: learner.example(each.id)[0] for each in explanation.supports}
        return draw(explanation, x, self.image_shape, images)

    def save(self, file: str | Path) -> None:
        """Write the classifier to one file: see `Learner.save`.

        Parameters
        ----------
        file : str or Path
        """
        self._fitted().save(file)

    @classmethod
    def load(
        cls,
        file: str | Path,
        features: str | FeatureMap | Callable[[Any], Any] | None = None,
        memory: Codec | None = None,
    ) -> Self:
        """Read a classifier from a file that a classifier or a learner saved.

        Parameters
        ----------
        file : str or Path
        features : FeatureMap or callable, optional
        memory : Codec, optional
            The feature map and the codec, if they are your own: these are not saved.

        Returns
        -------
        MinoutClassifier
        """
        learner = Learner.load(file, features, memory)
        schema = learner.schema
        named = _named(learner.features) if features is None else {"features": features}
        codec = schema.label_codec(learner.classes.tolist())
        classifier = cls(
            **{name: getattr(learner.settings, name) for name in SETTINGS},
            **named,
            memory=memory_name(learner.memory),
            column_kinds=schema.column_kinds or None,
            class_weight=schema.class_weights.as_setting(codec),
        )
        classifier._model = learner, NOTHING_YET
        return classifier

    @property
    def learner_(self) -> Learner:
        """The underlying learner."""
        return self._has("learner_")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels taught or passed as `classes`, sorted, in the dtype in which they came."""
        state = self._has("classes_")._state
        schema: Schema = state.schema
        return schema.label_codec(state.labels).decode(schema.all_labels(state.labels))

    @property
    def n_features_in_(self) -> int:
        """The number of columns of X."""
        count = self._has("n_features_in_").schema.columns_in
        if count is None:
            raise AttributeError("X has no columns; there is no `n_features_in_`.")
        return count

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns of X, if it was a data frame."""
        names = self._has("feature_names_in_").schema.columns
        if names is None:
            raise AttributeError("X was not a data frame; there is no `feature_names_in_`.")
        return np.array(names, dtype=object)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column of a data frame, and the reason."""
        return self._has("columns_").schema.described()

    @property
    def misfits_(self) -> list[Id]:
        """The ids of the stored examples on the wrong side of a separator of their region."""
        return self._has("misfits_").misfits

    @property
    def pending_(self) -> list[Id]:
        """The ids of the stored examples that wait until a separator moves; see `settle`."""
        return self._has("pending_").pending

    @property
    def ids_(self) -> list[Id]:
        """The ids that the last `fit` or `partial_fit` taught, without those forgotten since."""
        learner = self._has("ids_")
        return [each for each in self._last().ids if each in learner]

    @property
    def all_ids_(self) -> list[Id]:
        """The ids of all stored examples, in the order in which they were taught."""
        return self._has("all_ids_").ids

    @property
    def reports_(self) -> list[StepReport]:
        """What each row of the last `partial_fit`, or correction or update, changed."""
        self._has("reports_")
        return list(self._last().reports)

    @property
    def certificates_(self) -> list[Certificate]:
        """The certificates of the last call: one per row or corrected example, one for `fit`."""
        self._has("certificates_")
        return list(self._last().certificates)

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the last change, without the ids of forgotten examples.

        `certificates_` has one per row or corrected example, `reports_` also whether a row was
        predicted correctly before.
        """
        if not self.certificates_:
            raise AttributeError(
                "There is no certificate: the last call had no rows, "
                "or nothing has changed since this classifier was loaded."
            )
        return self.certificates_[-1]

    def __sklearn_tags__(self) -> Any:
        """Return what kinds of input this classifier takes."""
        tags = super().__sklearn_tags__()
        takes_text = self.features == "text" or isinstance(self.features, HashedText)
        tags.input_tags.sparse = tags.input_tags.two_d_array = not takes_text
        tags.input_tags.string = tags.input_tags.one_d_array = takes_text
        return tags


def _with_settings(doc: str | None) -> str | None:
    # The docstring of the classifier with the parameters that it shares with the learner.
    if doc is None or Learner.__doc__ is None:  # python -OO
        return doc
    start, stop = (Learner.__doc__.index(each) for each in ("    C : float", "\n\n    Notes"))
    first, _, others = Learner.__doc__[start:stop].partition("    missing : ")
    last = others[others.index("    column_kinds : ") :]
    return doc.replace("    {settings}", first + last)


MinoutClassifier.__doc__ = _with_settings(MinoutClassifier.__doc__)


def _rows(X: Any, state: State) -> Floats:
    return known_rows(checked_rows(X, state.schema), state.schema, state, is_read=True)


def _spread(state: State, values: Floats, empty: float) -> Floats:
    # Values (n, labels seen) with a column per class; those without examples are `empty`.
    labels, seen = state.schema.all_labels(state.labels), sorted(state.labels)
    if len(labels) == len(seen):
        return values
    wide = np.full((len(values), len(labels)), empty)
    wide[:, [labels.index(label) for label in seen]] = values
    return wide


def _named(features: FeatureMap) -> dict[str, Any]:
    if isinstance(features, Scattering) and features == Scattering(features.image_shape):
        return {"features": "scattering", "image_shape": features.image_shape}
    return {"features": name_of(features)}


def _taught_ids(reports: list[StepReport]) -> list[Id]:
    gone = {id for each in reports for id in each.certificate.forgotten}
    return [each.example_id for each in reports if each.example_id not in gone]
