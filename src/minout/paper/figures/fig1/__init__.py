"""Fig. 1 of the paper: unclipped maxout, where an update reaches points that another line won."""
