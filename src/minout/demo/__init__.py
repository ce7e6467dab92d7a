"""The demo: digits in label order, compared with SGD; wrong labels found; forgetting."""
