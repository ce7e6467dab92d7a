"""Train and test accuracy through training, 100 per class (the paper's Fig. 4)."""
