"""The paper's open question: how many examples a step concerns, against the number of units."""
