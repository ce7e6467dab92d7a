"""The paper's expectation: with more modes than rehearsed examples, conditional beats random."""
