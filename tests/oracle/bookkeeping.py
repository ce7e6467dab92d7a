"""The paper's bookkeeping, word for word: a table neuron → examples, a counter per example."""


class Bookkeeping:
    """Stores an example under a neuron's key if the neuron is clipped at this example."""

    def __init__(self, units, neurons):
        self.table = {(i, j): set() for i in range(units) for j in range(neurons)}
        self.counters = {}
        self.units, self.neurons = units, neurons

    def add(self, example, clipped):
        for i in range(self.units):
            self.counters[i, example] = 0
            for j in range(self.neurons):
                if clipped[i][j]:
                    self.table[i, j].add(example)
                    self.counters[i, example] += 1

    def discard(self, example):
        for i in range(self.units):
            del self.counters[i, example]
            for j in range(self.neurons):
                self.table[i, j].discard(example)

    def replace(self, i, neurons, clipped):
        """After the weight update, the information in the table is updated accordingly."""
        for j, said in zip(neurons, clipped, strict=True):
            for example in self.ids():
                before, after = example in self.table[i, j], bool(said[example])
                if after and not before:
                    self.table[i, j].add(example)
                    self.counters[i, example] += 1
                if before and not after:
                    self.table[i, j].remove(example)
                    self.counters[i, example] -= 1

    def three_sets(self, i, j):
        """If no neurons are clipped, S1; if only the selected one is, S2; otherwise S3."""
        s1 = [e for e in self.ids() if self.counters[i, e] == 0]
        s2 = [e for e in self.ids() if self.counters[i, e] == 1 and e in self.table[i, j]]
        s3 = [e for e in self.ids() if e not in s1 and e not in s2]
        return s1, s2, s3

    def interfered(self, i, neurons):
        """Lists the examples that no other neuron holds under its key."""
        others = [j for j in range(self.neurons) if j not in neurons]
        return [e for e in self.ids() if not any(e in self.table[i, j] for j in others)]

    def clipped(self, example):
        return [
            [example in self.table[i, j] for j in range(self.neurons)] for i in range(self.units)
        ]

    def ids(self):
        return sorted({example for _, example in self.counters})
