"""The demo: digits in label order, beside SGD; wrong labels found, an example forgotten."""
