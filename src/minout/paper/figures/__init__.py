"""The figures of the paper, each a folder: run and figure (see `task.py`)."""
