"""Damaged and forged copies of stored models, and what comes of opening them."""
