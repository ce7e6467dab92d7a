"""The scikit-learn estimator: fit, partial_fit, predict, explain, correct, forget."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from minout._typing import Floats, Id
from minout.classifier._labels import with_unknown
from minout.classifier._model import (
    Batch,
    LastCall,
    Mark,
    Model,
    RowFacts,
    new_model,
    parameters_of,
    stored_model,
)
from minout.classifier.picture import Images, Picture, draw
from minout.codecs import Codec
from minout.engine import (
    Audit,
    Certificate,
    Conflict,
    Consolidation,
    ExpectedAccuracy,
    Explanation,
    LabelErrors,
    PairSeparator,
    StepReport,
    Suspect,
    WhatIf,
)
from minout.engine.settings import Keep
from minout.errors import InvalidInputError
from minout.features import FeatureMap, HashedText, Identity
from minout.inputs import listed_ids
from minout.learner import Learner
from minout.model_store import Durability
from minout.readwrite import ReadWriteLock

Auto = Literal["auto"]


class MinoutClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An online classifier that stores every example and reports what each one changed.

    `fit` starts a new model and consolidates it: the result does not depend on the order of the
    rows. `partial_fit` teaches more rows, one by one; new labels may appear at any time.

    There is one linear separator for each pair of labels, or several if labels have several regions
    (clusters of examples). The margin of an example is the value of a separator, positive on the
    side of the example's label. After every step each stored example is fitted (its margins are
    positive in all separators of its region) or listed in `misfits_`.

    Threads may share a classifier: readers always see a consistent state, and calls that change it
    wait for each other.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Inverse strength of the regularisation, as in scikit-learn's `LinearSVC`: a high value fits
        what was taught more closely, a low one allows more misfits.
    whiten : bool or "auto", default="auto"
        Use the inverse of the within-class covariance as the metric (Mahalanobis distance).
    lda_prior : bool or "auto", default="auto"
        Regularise each separator towards the linear discriminant (LDA) of its two classes, instead
        of towards 0.
    standardize : bool or "auto", default="auto"
        Divide each column by its standard deviation first.
    regions : int or "auto", default="auto"
        Into how many regions the examples of a label are divided at most. Each region has its own
        separators, so a label may lie in several places or curve around others. "auto" is 1, 2, 4
        or 8, and at most 200 regions in all. A label with n examples has at most n/5 regions.
    expand : int, None or "auto", default="auto"
        How many hat functions of each column are added at most: piecewise-linear functions with
        their peaks at quantiles of the column, by which separators follow thresholds and bumps.
        None adds none. "auto" is none, 3 (up to 50 columns) or 9 (up to 20 columns), not counting
        those of text, which have none.
    refresh : {"auto", "manual"}, default="auto"
        With "auto", scale, covariance, discriminants and the settings that are "auto" are computed
        again from time to time while examples are taught; with "manual", by `fit` and
        `consolidate` only.
    near_classes : int, "all" or "auto", default="auto"
        For how many of the nearest other labels each label has a separator with stored weights; see
        `Learner`. "auto" is "all" up to 200 labels, and 32 above.
    keep : "all", int, dict or str, default="all"
        The window: how many examples stay stored in all, or of each label (`{"per_label": n}`), or
        from how much time ("30d", "12h"). The oldest ones are forgotten; see `Learner`.
    memory : "auto", "uint8", "uint4", "uint2" or Codec, default="auto"
        How rows are stored: as they are, as codes of 8, 4 or 2 bits per number, or by a codec; see
        `Learner`.
    features : str, FeatureMap or callable, default="identity"
        The fixed map that turns examples into rows of numbers: "identity", "scattering" (images),
        "random_fourier", "projection" (wide or sparse tables), "text" (strings), a map such as
        `Scattering(...)`, or a function of a batch that returns one row per example. A function
        gets X as it was passed.
    image_shape : tuple of int, optional
        For "scattering" and `picture`: the shape of the image in a row, (height, width) or
        (height, width, channels). By default a row whose length is a square is a grey image.
    class_weight : dict, "balanced" or None, default=None
        Factors for the weights of the rows of each label. A dict of label to factor; labels that
        are missing have 1. `fit` refuses a dict that has a label which is not in y, unless all
        labels of y are in it. "balanced", for `fit` only, computes factors that give all labels the
        same total weight: n_samples / (n_classes * count of the label).
    store : str or Path, optional
        A folder to which all changes are committed, and which other processes can use at the same
        time: see `Learner.open`. By default the model is in RAM only. `fit` needs a folder without
        a model; `partial_fit`, `predict`, the other methods and the attributes continue with the
        model that is there, which must have been made with the same parameters. A copy or a pickle
        is not connected with the folder.
    durability : {"batch", "example"}, default="batch"
        With `store`: whether the changes of several calls are committed together, about twice a
        second, or each call commits its changes before it returns; see `Learner.open`.
    column_kinds : dict, optional
        The kinds of the columns of a data frame, by name: "number", "boolean", "date", "category",
        "text" or "ignore" (see `TableEncoder`). The kinds of columns that are not in it are
        inferred from dtypes and values; `columns_` has them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels taught or passed as `classes`, sorted, in the dtype in which they were passed.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a data frame.
    columns_ : dict of str to str
        The kind of each column of a data frame, and the reason.
    ids_ : list of int or str
        The ids that the last `fit` or `partial_fit` taught, without those forgotten since.
    all_ids_ : list of int or str
        The ids of all stored examples, in the order in which they were taught.
    misfits_ : list of int or str
        The ids of the stored examples on the wrong side of a separator of their region.
    pending_ : list of int or str
        The ids of the stored examples that wait until a separator with many support vectors moves.
    certificate_ : Certificate
        The certificate of the last change: what moved, and which examples became misfits. After
        `forget` it does not name the forgotten examples; the one that `forget` returns does.
    certificates_ : list of Certificate
        The certificate of each row of the last `partial_fit`; after other calls, one.
    learner_ : Learner
        The underlying learner.

    See Also
    --------
    minout.Learner : The same without scikit-learn's conventions.

    Notes
    -----
    The parameters are read when a model is started: by `fit`, or by the first `partial_fit`.
    Settings that are "auto" are chosen by cross-validation on stored examples. The folds do not
    depend on the order of the examples.

    X is an array or a SciPy sparse matrix of numbers, or a pandas or polars data frame with
    numbers, categories, booleans, dates, text and missing values in any mix; y holds strings or
    whole numbers. A frame of numbers and booleans, none missing, is used as an array. Any other
    frame is encoded by a `TableEncoder`; a missing number counts as the mean of its column, and an
    indicator feature says that it is missing. Categories may appear at any time. A sparse matrix of
    more than 1,024 columns needs `features="projection"`. With `features="text"`, X is a list, an
    array or a series of strings.

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
        refresh: Literal["auto", "manual"] = "auto",
        near_classes: int | Literal["auto", "all"] = "auto",
        keep: Keep = "all",
        memory: str | Codec = "auto",
        features: str | FeatureMap | Callable[[Any], Any] = "identity",
        image_shape: tuple[int, ...] | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        store: str | Path | None = None,
        durability: Durability = "batch",
        column_kinds: Mapping[str, str] | None = None,
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
        self, X: Any, y: Any, sample_weight: Any = None, *, ids: Any = None, at: Any = None
    ) -> Self:
        """Start a new model, teach it all rows and consolidate it.

        The model then depends on the set of examples only, not on their order. With `keep`, the
        rows that stay are the newest by `at`; without `at`, the last ones. If the call raises
        an error or is interrupted, the classifier stays as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Their labels: strings or whole numbers.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts; by default 1. A row of weight 2 is the same as two equal rows,
            and rows of weight 0 are left out.
        ids : sequence of int or str, optional
            One id per row; by default the rows are numbered.
        at : float, datetime or sequence of them, optional
            When it happened, one time for all rows or one per row; see `Learner.teach`.

        Returns
        -------
        self : MinoutClassifier
            The fitted classifier.
        """
        with self._changing():
            facts = RowFacts(sample_weight, ids, at)
            self._require_empty_store()
            model, batch = self._new_model(X, y, None, facts, has_all_labels=True)
            taught = model.teach(batch)
            certificate = model.learner.consolidate().certificate
            model.last = taught._replace(certificates=[certificate])
            self._keep(model)
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

        If the call raises an error, the classifier is unchanged. If it is interrupted (Ctrl-C),
        the examples before the interruption stay taught; `ids_` lists them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Their labels: strings or whole numbers.
        classes : array-like, optional
            Labels to announce: they are in `classes_` from now on, with probability 0 until they
            have an example, and until `forget` or `forget_class` removes their last one. Labels
            that were not announced may still appear.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts; by default 1. Rows of weight 0 are left out.
        ids : sequence of int or str, optional
            One id per row; by default the next free numbers. Teaching a stored id again with the
            same row, label and weight changes nothing; with others it is an error: see `correct`.
        at : float, datetime or sequence of them, optional
            When it happened, one time for all rows or one per row; see `Learner.teach`.

        Returns
        -------
        self : MinoutClassifier
            The classifier.
        """
        with self._changing():
            model, facts = self._model_or_stored(to_change=True), RowFacts(sample_weight, ids, at)
            if model is None:
                model, batch = self._new_model(X, y, classes, facts, has_all_labels=False)
                self._teach(model, lambda _: batch)
            elif classes is not None or not model.teach_plain(X, y, facts):
                self._teach(model, lambda newest: newest.check_call(X, y, classes, facts))
        return self

    def predict(self, X: Any, unknown: Any = None) -> NDArray[Any]:
        """Predict the class with the highest score for each row; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        unknown : object, optional
            The label to return for rows whose scores are all 0 or less.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        model = self._fitted()
        rows = model.check_rows(X)
        if unknown is None:
            predicted = model.predict(rows)
            return model.codec.decode(predicted)  # read after the scores: see Model
        known, rejected = model.predict_known(rows)
        return with_unknown(model.codec.decode(known), rejected, unknown)

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class: the softmax of sharpness times score.

        The sharpness (an inverse temperature) is chosen together with C: the value that maximises
        the likelihood of the labels of held-out rows. Probabilities assume that one of the classes
        is right.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns are in the order of `classes_`; 0 for a class without examples.
        """
        model = self._fitted()
        return model.spread(*model.probabilities(model.check_rows(X)), 0.0)

    def predict_log_proba(self, X: Any) -> Floats:
        """Estimate the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

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
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Columns are in the order of `classes_`. For two classes, the score of the second, as
            scikit-learn expects; the score of the first is its negative. A class without examples
            has -inf, a single class has inf.
        """
        model = self._fitted()
        scores = model.spread(*model.scores(model.check_rows(X)), -np.inf)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def what_if(self, X: Any, y: Any) -> list[WhatIf]:
        """Return which stored examples could be disturbed by each row alone; learn nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            The labels that they would have.

        Returns
        -------
        list of WhatIf
            One per row; its `interfered` lists the ids of the examples whose scores, clipped at 0,
            could change.
        """
        model = self._fitted()
        rows, labels, _ = model.check_rows_and_labels(X, y)
        return model.what_if(rows, labels)

    def explain(self, x: Any) -> Explanation:
        """Return the separator that decides the label of a row, and its support vectors.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            One row.

        Returns
        -------
        Explanation
            The label, the runner-up, the margin between them, and the terms that add up to it.
        """
        model = self._fitted()
        return model.explain(model.check_row(x))

    def separator(self, a: Any, b: Any, regions: tuple[int, int] = (0, 0)) -> PairSeparator:
        """Return the separator between two labels: weights, bias and support vectors.

        Parameters
        ----------
        a, b : int or str
            Two labels; the separator is positive on the side of `a`.
        regions : (int, int), default=(0, 0)
            If labels have several regions, which of `a` and which of `b`.

        Returns
        -------
        PairSeparator
            `weights @ x + bias` is the margin of x for `a` against `b`, where x is a row as
            `learner_.expanded` returns it; `supports` are the support vectors.

        Raises
        ------
        InvalidInputError
            If a label has no stored examples or no such region, or both labels are the same.
        """
        model = self._fitted()
        first, second = (model.codec.encode_one(each)[0] for each in (a, b))
        return model.learner.separator(first, second, regions)

    def picture(self, x: Any, images: Images | None = None) -> Picture:
        """Draw the explanation of an image.

        Parameters
        ----------
        x : array-like of shape (n_features,) or of the image's shape
            An image.
        images : mapping of id to image, optional
            The images of stored examples. By default the stored rows, if they are the images
            themselves (`features="identity"`).

        Returns
        -------
        matplotlib.figure.Figure
            Save it with `savefig`.
        """
        learner = self._fitted().learner
        explanation = self.explain(x)
        if not isinstance(learner.features, Identity):
            explanation = explanation._replace(separator=np.empty(0))
        elif images is None:
            images = {each.id: learner.example(each.id)[0] for each in explanation.supports}
        return draw(explanation, x, self.image_shape, images)

    def correct(self, id: Id, y: Any) -> StepReport:
        """Give a stored example another label, in one step.

        With `class_weight` its weight changes, too, as if it had been taught with the new label.

        Parameters
        ----------
        id : int or str
            The id of a stored example.
        y : int or str
            The new label.

        Returns
        -------
        StepReport
            What the change moved.
        """
        with self._changing():
            model = self._fitted(to_change=True)
            with model.turn():
                label, codec = model.codec.encode_one(y)
                model.note(codec, model.class_weights)
                weight = model.corrected_weight(id, label)
                report = model.learner.correct(id, label, weight)
            model.set_certificate(report.certificate)
        return report

    def forget(self, ids: Id | Iterable[Id]) -> Certificate:
        """Remove stored examples; separators that had them as support vectors are solved again.

        After `consolidate()` the model is identical, bit for bit, to one that was never taught
        them.

        Parameters
        ----------
        ids : int, str, or iterable of them
            The ids of the examples to remove.

        Returns
        -------
        Certificate
            Which separators moved, and how many margins were checked.
        """
        with self._changing():
            model = self._fitted(to_change=True)
            if isinstance(ids, str) or not isinstance(ids, Iterable):
                ids = [ids]
            asked = listed_ids(ids, "one id or a list of ids")
            try:
                with model.turn():
                    model.note_without(asked)
                    certificate = model.learner.forget(asked)
                model.set_certificate(certificate)
            finally:
                model.drop_forgotten()
        return certificate

    def forget_class(self, y: Any) -> Certificate:
        """Remove all examples of a label, and the label itself.

        Parameters
        ----------
        y : int or str
            A label that has stored examples.

        Returns
        -------
        Certificate
            Which separators moved, and how many margins were checked.
        """
        with self._changing():
            model = self._fitted(to_change=True)
            try:
                with model.turn():
                    label, _ = model.codec.encode_one(y)
                    model.note_without(model.ids_of(label), label)
                    certificate = model.learner.forget_class(label)
                model.set_certificate(certificate)
            finally:
                model.drop_forgotten()
        return certificate

    def settle(self) -> Certificate:
        """Solve every separator in which examples are pending; see `Learner.settle`.

        Returns
        -------
        Certificate
            Which separators moved, and how the list of misfits changed.
        """
        with self._changing():
            model = self._fitted(to_change=True)
            certificate = model.learner.settle()
            model.set_certificate(certificate)
        return certificate

    def consolidate(self) -> Consolidation:
        """Compute the model again from the set of stored examples.

        Afterwards it depends on the set of stored examples only, not on their order.

        Returns
        -------
        Consolidation
            A certificate, and the settings that were chosen.
        """
        with self._changing():
            model = self._fitted(to_change=True)
            done = model.learner.consolidate()
            model.set_certificate(done.certificate)
        return done

    def audit(self) -> Audit:
        """Compute all margins of all stored examples again with plain NumPy, and compare.

        Returns
        -------
        Audit
            Its `ok` is True if nothing differs; otherwise `differences` lists the differences.
        """
        return self._fitted().learner.audit()

    def suspects(self, n: int | None = None, *, likely: bool = False) -> list[Suspect]:
        """Return the stored examples that are most likely to have a wrong label.

        Parameters
        ----------
        n : int, optional
            The maximum number of examples; by default 10, or all with `likely`.
        likely : bool, default=False
            Return only those whose label is wrong with a probability of 0.5 or more.

        Returns
        -------
        list of Suspect
            Examples that have slack, the highest probability of a wrong label first.
        """
        return self._fitted().learner.suspects(n, likely=likely)

    def label_errors(self) -> LabelErrors:
        """Return how many labels are probably wrong; see `Learner.label_errors`.

        Returns
        -------
        LabelErrors
            The expected number with a 95 % interval, and the same for the examples of each label.
        """
        return self._fitted().learner.label_errors()

    def conflicts(self) -> list[Conflict]:
        """Return pairs of nearly equal rows with different labels; see `Learner.conflicts`.

        Returns
        -------
        list of Conflict
            The nearest pair first.
        """
        return self._fitted().learner.conflicts()

    def expected_accuracy(self) -> ExpectedAccuracy:
        """Return the accuracy to expect on new rows: each stored example is left out in turn.

        See `Learner.expected_accuracy`.

        Returns
        -------
        ExpectedAccuracy
            The accuracy with a 95 % interval, and the same for each label.
        """
        return self._fitted().learner.expected_accuracy()

    def save(self, file: str | Path) -> None:
        """Write the classifier to one file; a loaded copy continues with bit-identical results.

        Parameters
        ----------
        file : str or Path
            The file to write; its folder must exist. An existing file is replaced only when the
            new one is complete.
        """
        self._fitted().learner.save(file)

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
            The file.
        features : FeatureMap or callable, optional
            The feature map, if it is a function of your own: it is not saved.
        memory : Codec, optional
            The codec, if it is your own: it is not saved.

        Returns
        -------
        MinoutClassifier
            A classifier in the state in which the other was saved.
        """
        learner = Learner.load(file, features, memory)
        model = Model.from_learner(learner)
        model.note(model.codec, model.class_weights)
        parameters = parameters_of(learner, features)
        classifier = cls(**parameters, class_weight=model.class_weight())
        classifier._model = model
        return classifier

    @property
    def learner_(self) -> Learner:
        """The underlying learner."""
        return self._has("learner_").learner

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels taught or passed as `classes`, sorted, in the dtype of the input."""
        model = self._has("classes_")
        return model.classes(model.learner.classes)

    @property
    def n_features_in_(self) -> int:
        """The number of columns of X."""
        columns: int = self._has("n_features_in_").columns.n_features_in_
        return columns

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns of X, if it was a data frame."""
        names: NDArray[Any] = self._has("feature_names_in_").columns.feature_names_in_
        return names

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column of a data frame, and the reason."""
        model = self._has("columns_")
        if (encoder := model.encoder) is not None:
            return encoder.taken_for()
        names = getattr(model.columns, "feature_names_in_", [])
        return dict.fromkeys(map(str, names), "number")

    @property
    def misfits_(self) -> list[Id]:
        """The ids of the stored examples on the wrong side of a separator of their class."""
        return self._has("misfits_").learner.misfits

    @property
    def pending_(self) -> list[Id]:
        """The ids of the stored examples that wait until a separator moves; see `settle`."""
        return self._has("pending_").learner.pending

    @property
    def ids_(self) -> list[Id]:
        """The ids that the last `fit` or `partial_fit` taught, without those forgotten since."""
        return list(self._has("ids_").last.ids)

    @property
    def all_ids_(self) -> list[Id]:
        """The ids of all stored examples, in the order in which they were taught."""
        return self._has("all_ids_").learner.ids

    @property
    def certificates_(self) -> list[Certificate]:
        """The certificate of each row of the last `partial_fit`; after other calls, one."""
        return list(self._has("certificates_").last.certificates)

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the last change."""
        certificates = self._has("certificate_").last.certificates
        if not certificates:
            raise AttributeError(
                "There is no certificate: the last call was interrupted, "
                "or nothing has changed since this classifier was loaded."
            )
        return certificates[-1]

    def __sklearn_tags__(self) -> Any:
        """Return what kinds of input this classifier takes."""
        tags = super().__sklearn_tags__()
        takes_text = self.features == "text" or isinstance(self.features, HashedText)
        tags.input_tags.sparse = tags.input_tags.two_d_array = not takes_text
        tags.input_tags.string = tags.input_tags.one_d_array = takes_text
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model, here or in the folder."""
        return self._opened() is not None

    def __getstate__(self) -> dict[str, Any]:
        """Return plain values and arrays that later teaching does not change, without the lock.

        They name no types of minout, so that skops and others can store them.
        """
        with self._changing():
            state = {name: each for name, each in super().__getstate__().items() if name != "_lock"}
            if (model := self._model_or_none()) is not None:
                state["_model"] = model.get_state()
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the classifier from the result of `__getstate__`."""
        super().__setstate__(state)
        if "_model" in state:
            self._model = Model.from_state(state["_model"])

    def _changing(self) -> AbstractContextManager[object]:
        # The lock for calls that change the model. Made on first use: scikit-learn estimators only
        # store parameters in __init__.
        lock: ReadWriteLock = self.__dict__.setdefault("_lock", ReadWriteLock())
        return lock.preparing()  # made anew in a forked child

    def _new_model(
        self, X: Any, y: Any, classes: Any, facts: RowFacts, *, has_all_labels: bool
    ) -> tuple[Model, Batch]:
        parameters = self.get_params(deep=False)
        return new_model(parameters, X, y, classes, facts, has_all_labels=has_all_labels)

    def _teach(self, model: Model, checked: Callable[[Model], Batch]) -> None:
        # The input is checked in the turn, where the model has the newest labels and categories.
        mark: Mark | None = None
        try:
            with model.turn() as mark:
                batch = checked(model)
                model.note(batch.codec, model.class_weights, batch.encoder)
                last = model.teach(batch)
            model.last = last
        except BaseException:
            if mark is not None and (ids := model.taught_since(mark)):  # an interruption
                model.last = LastCall(ids, [])
                self._keep(model)
            raise
        self._keep(model)

    def _require_empty_store(self) -> None:
        if (model := self._stored()) is not None:
            model.learner.close()
            raise InvalidInputError(
                f"There is already a model in {self.store}, and `fit` starts a new one; use "
                "`partial_fit` to teach it more, or name another folder."
            )

    def _stored(self, *, to_change: bool = False) -> Model | None:
        return stored_model(self.get_params(deep=False), to_change=to_change)

    def _keep(self, model: Model) -> None:
        # Make a model that of this classifier, and keep it in the folder, if there is one.
        if self.store is not None and model is not self._model_or_none():
            model.learner.store_in(self.store, durability=self.durability)
        self._model = model

    def _model_or_stored(self, *, to_change: bool = False) -> Model | None:
        # The model of this classifier, or the one in its folder; call it under the lock.
        model = self._model_or_none()
        is_missing = model is None or (to_change and model.is_read_only)
        if is_missing and (model := self._stored(to_change=to_change)) is not None:
            self._model = model
        return model

    def _model_or_none(self) -> Model | None:
        model: Model | None = vars(self).get("_model")
        return model

    def _opened(self, *, to_change: bool = False) -> Model | None:
        model = self._model_or_none()
        if self.store is None or (model is not None and not to_change):
            return model
        with self._changing():
            return self._model_or_stored(to_change=to_change)

    def _fitted(self, *, to_change: bool = False) -> Model:
        model = self._opened(to_change=to_change)
        if model is None:
            check_is_fitted(self)  # raises scikit-learn's NotFittedError
            raise AssertionError
        return model

    def _has(self, attribute: str) -> Model:
        model = self._opened()
        if model is None:
            raise AttributeError(f"This classifier has not been fitted; it has no `{attribute}`.")
        return model
