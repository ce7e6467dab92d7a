"""A scikit-learn estimator around the learner."""

from minout.classifier.classifier import MinoutClassifier
from minout.classifier.picture import draw
from minout.classifier.table_picture import draw_table

__all__ = ["MinoutClassifier", "draw", "draw_table"]
