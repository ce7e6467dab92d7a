"""The sharing line: from a θ for every row to one θ for all, with minout units in between."""
