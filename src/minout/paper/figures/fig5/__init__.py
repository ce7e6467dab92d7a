"""The same with 10 per class, where random rehearsal falls behind (the paper's Fig. 5)."""
