"""How many examples a unit rehearses while it learns (the paper's Fig. 3)."""
