"""The pages of the docs, run."""
