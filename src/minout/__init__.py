"""Learn from a stream, one example at a time, and know what each example disturbs."""

__version__ = "0.1.0"
