"""Fig. 2 of the paper: the three sets of a clipped maxout unit, before and after an update."""
