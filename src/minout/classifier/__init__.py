"""A scikit-learn estimator around the learner."""

from minout.classifier.classifier import MinoutClassifier
from minout.classifier.picture import draw

__all__ = ["MinoutClassifier", "draw"]
