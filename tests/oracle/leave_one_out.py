"""Leave each stored example really out: metric, means, priors, and its separators from scratch.

What stays is read from the inspection view: origin, K, λ, and separators between other regions.
"""

import numpy as np

from oracle import separators
from oracle.margin import in_regions


def scores(learner, *, few=128):
    """Return the scores (n, labels) of all examples, each without itself and its equals.

    In separators of regions with at most `few` different rows one row of the other region leaves,
    too, and all that stay are solved for; otherwise only those that were support vectors.
    """
    view, ids = learner.inspect(), learner.ids
    known = in_regions(learner, view, {i: learner.example(i) for i in ids})
    rows = np.array([known[i][0] for i in ids], dtype=float)
    regions = [known[i][1] for i in ids]
    facts = _Facts(learner, view, rows, regions, few)
    labels, names = np.array(view.labels, dtype=object), np.array(learner.classes, dtype=object)
    found = np.array([facts.without(i) for i in range(len(ids))])
    return np.column_stack([found[:, labels == name].max(axis=1) for name in names])


class _Facts:
    """Rows, the number of the region of each, and what does not change without an example."""

    def __init__(self, learner, view, rows, regions, few):
        self.view, self.few, names = view, few, list(view.names)
        assert view.choice.free_bias
        self.Z, self.lam = rows - view.origin, 1.0 / (2.0 * view.choice.C)
        self.region = np.array([names.index(each) for each in regions])
        self.labels = np.array(view.labels, dtype=object)
        self.weights = np.array([learner.weight(i) for i in learner.ids])
        digests = learner._state.examples.digests[[view.places[i] for i in learner.ids]]
        _, self.group = np.unique(digests, return_inverse=True)  # equal rows have one number
        self.K = np.diag(view.K) if view.K.ndim == 1 else view.K
        self.P = np.linalg.inv(self.K)
        self.share = self._share()
        self.number = {i: place for place, i in enumerate(learner.ids)}
        self.f = np.zeros((len(rows), len(names), len(names)))
        for pair, each in view.separators.items():
            a, b = map(names.index, pair)
            self.f[:, a, b] = self.Z @ each.w + each.b
            self.f[:, b, a] = -self.f[:, a, b]

    def mean(self, which):
        return np.average(self.Z[which], axis=0, weights=self.weights[which])

    def _share(self):
        # K⁻¹ is a multiple of the scatter within labels, and a diagonal.
        scatter = np.zeros_like(self.P)
        for label in set(self.labels.tolist()):
            mine = self.labels[self.region] == label
            U = self.Z[mine] - self.mean(mine)
            scatter += U.T @ (self.weights[mine, None] * U)
        off = ~np.eye(len(scatter), dtype=bool)
        return (self.P[off] @ scatter[off]) / (scatter[off] @ scatter[off])

    def without(self, i):
        """Return the scores of an example for each region, without it."""
        r, labels = self.region[i], self.labels
        of_label = labels[self.region] == labels[r]
        equal, is_in = self.group == self.group[i], self.region == r
        leaves = equal[is_in].all()
        if equal[of_label].all():
            return self._least(i, np.arange(len(labels)))
        found = self._least(i, np.delete(np.arange(len(labels)), r))
        if leaves:
            return found
        u, weight = self.Z[i] - self.mean(of_label), self.weights[equal & of_label].sum()
        total = self.weights[of_label].sum()
        t = self.share * weight * total / (total - weight)
        K = np.linalg.inv(self.P - t * np.outer(u, u))
        others = np.flatnonzero(labels != labels[r])
        values = np.array([self._value(i, r, q, (K + K.T) / 2.0) for q in others.tolist()])
        found[others], found[r] = np.minimum(found[others], -values), values.min()
        return found

    def _least(self, i, kept):
        found = np.full(len(self.labels), -np.inf)
        for c in kept:
            others = kept[self.labels[kept] != self.labels[c]]
            found[c] = self.f[i, c, others].min(initial=np.inf)
        return found

    def _value(self, i, r, q, K):
        # The value at example i of region r of its separator from q, which is solved without it.
        in_r, in_q = self.region == r, self.region == q
        own, theirs = (np.unique(self.group[each]) for each in (in_r, in_q))
        is_few, place = max(len(own), len(theirs)) <= self.few, own.tolist().index(self.group[i])
        gone = self.group == self.group[i]
        partner = np.zeros_like(gone)
        is_far, used = self._separator(r, q)[0].is_far, self._used(r, q)
        if is_few and not is_far and 1 < len(theirs) > place:
            partner = self.group == theirs[place]
        w0, b0 = self._prior(r, q, K, (in_r & ~gone, in_q & ~partner))
        rest = (in_r | in_q) & ~gone & ~partner
        if is_far and not used.any():  # it stays its prior
            return w0 @ self.Z[i] + b0
        if not is_few:
            rest &= used
        Z, signs, weights = self.Z[rest], np.where(in_r, 1.0, -1.0)[rest], self.weights[rest]
        if is_few:
            w, b, _ = separators.by_nnls(Z, signs, K, w0, b0, self.lam, weights)
            return w @ self.Z[i] + b
        M = Z @ K @ Z.T + 1.0 + np.diag(self.lam / weights)
        c = np.linalg.solve(M, signs - Z @ w0 - b0)
        return w0 @ self.Z[i] + b0 + c @ (Z @ K @ self.Z[i] + 1.0)

    def _prior(self, r, q, K, rest):
        # As large as before at the means, one plus and one minus, but for what both have in common.
        each, sign = self._separator(r, q)
        w, b = sign * each.prior_w, sign * each.prior_b
        if not w.any():
            return w, b
        before, after = [self.mean(self.region == c) for c in (r, q)], [*map(self.mean, rest)]
        half = w @ (before[0] - before[1]) / 2.0
        common = w @ (before[0] + before[1]) / 2.0 + b
        common *= (before[0] - before[1]) @ self.K @ (before[0] - before[1])
        new = K @ (after[0] - after[1])
        apart = new @ (after[0] - after[1])
        new *= 2.0 * half / apart
        return new, common / apart - new @ (after[0] + after[1]) / 2.0

    def _separator(self, r, q):
        a, b = self.view.names[r], self.view.names[q]
        if (a, b) in self.view.separators:
            return self.view.separators[a, b], 1.0
        return self.view.separators[b, a], -1.0

    def _used(self, r, q):
        each, _ = self._separator(r, q)
        used = np.zeros(len(self.Z), dtype=bool)
        used[[self.number[i] for i, a in zip(each.ids, each.alpha, strict=True) if a > 0.0]] = True
        return used
