"""The figures of the paper, each a folder: settings, run, figure."""
