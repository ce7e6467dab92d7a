"""Few images per class, pixels and scattering, beside models for small data."""

from collections.abc import Iterator

from benchmarks import rivals
from benchmarks.data import images, scattering
from benchmarks.measuring import Options, Table, accuracy, spread, teach, track
from minout import MinoutClassifier

RIVALS = {
    "LDA": rivals.StreamingLda,
    "5 nearest neighbours": rivals.nearest,
    "logistic regression": rivals.logistic,
    "RBF-SVM, tuned": rivals.tuned_svm,
}


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each kind of features and number of images."""
    sizes, draws = ((4,), 1) if options.small else ((10, 100), 5)
    kinds = ("pixels",) if options.small else ("pixels", "scattering")
    models = ("minout, stream", "minout, consolidated", *RIVALS)
    found: dict[tuple[str, int, str], list[float]] = {}
    jobs = [(each, options.seed + n) for each in sizes for n in range(draws)]
    for each, seed in track(jobs, "few images"):
        data = images(options._replace(seed=seed), each)
        for kind in kinds:
            split = scattering(data) if kind == "scattering" else data
            ours = MinoutClassifier()
            teach(ours, split.rows, split.labels)
            shares = [accuracy(ours, split.test_rows, split.test_labels)]
            ours.consolidate()
            shares += [accuracy(ours, split.test_rows, split.test_labels)]
            for fit in RIVALS.values():
                model = fit(split.rows, split.labels)
                shares += [accuracy(model, split.test_rows, split.test_labels)]
            for name, share in zip(models, shares, strict=True):
                found.setdefault((kind, each, name), []).append(share)
    yield Table(
        f"Test accuracy in % with few images per class, {draws} draws",
        ("features", "per class", *models),
        [
            (kind, str(each), *(spread(found[kind, each, name], 2) for name in models))
            for kind in kinds
            for each in sizes
        ],
        "Mean ± standard deviation. minout gets one pass in label order, default settings; LDA has "
        "the ridge of minout's whitening; the SVM is tuned by 3-fold cross-validation.",
    )
