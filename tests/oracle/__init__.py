"""Dull, slow judges, written from the paper; they borrow nothing from the code that they judge."""
