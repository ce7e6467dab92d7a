"""The overhead of the classifier is measured where there is nothing else to measure."""

from minout.bench.front import overhead as bench
from minout.bench.front.overhead import overhead


def test_both_sides_are_timed_and_compared():
    found = overhead(5, calls=30)
    assert (found.columns, found.calls) == (5, 30)
    assert min(found[2:]) > 0.0
    assert found.teaching == found.partial_fit - found.teach
    assert found.predicting == found.predict - found.learner_predict


def test_what_is_timed_moves_nothing(monkeypatch):
    made = []

    class Watched(bench.MinoutClassifier):
        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            made.append((self.certificate_.moved, self.certificate_.checked))

    monkeypatch.setattr(bench, "MinoutClassifier", Watched)
    overhead(20, calls=30)
    assert made == [((), 0)] * 30
