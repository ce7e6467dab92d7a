"""The appendix's open question: how many examples are rehearsed, and how many should be."""
