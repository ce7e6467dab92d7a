"""Leave each stored example out, one at a time, and solve its separators again from scratch.

Origin, K, priors and λ are those of the learner, from its inspection view.
"""

import numpy as np

from oracle import separators


def gaps(learner, *, really):
    """Return {id: the score of its label without it, less the highest other score}.

    Solve for all rows of both labels if `really`, otherwise for the remaining support vectors. The
    only example of its label has -inf.
    """
    view = learner.inspect()
    known = {i: learner.example(i) for i in learner.ids}
    weights = {i: learner.weight(i) for i in learner.ids}
    labels = [label for _, label in known.values()]
    found = {}
    for left_out, (x, own) in known.items():
        if labels.count(own) == 1:
            found[left_out] = -np.inf
            continue
        scores = dict.fromkeys(sorted(set(labels)), np.inf)
        for (low, high), each in view.separators.items():
            w, b = each.w, each.b
            if own in (low, high) and really:
                w, b = solved_without(view, known, weights, (low, high), each, left_out)
            elif own in (low, high) and left_out in support(each):
                w, b = solved_for_the_rest(view, known, weights, each, left_out)
            f = float(w @ (np.asarray(x, dtype=float) - view.origin) + b)
            scores[low], scores[high] = min(scores[low], f), min(scores[high], -f)
        others = [score for label, score in scores.items() if label != own]
        found[left_out] = scores[own] - max(others, default=-np.inf)
    return found


def support(separator):
    """Return {id: sign} of the support vectors of a separator."""
    used = zip(separator.ids, separator.signs, separator.alpha, strict=True)
    return {i: sign for i, sign, alpha in used if alpha > 0.0}


def solved_for_the_rest(view, known, weights, separator, left_out):
    """Return w and b from the linear equations of the other support vectors."""
    signs = support(separator)
    del signs[left_out]
    if not signs:
        return separator.prior_w, separator.prior_b
    s = np.array([*signs.values()])
    Z = np.array([known[i][0] for i in signs], dtype=float) - view.origin
    K = np.diag(view.K) if view.K.ndim == 1 else view.K
    r = 1.0 - s * (Z @ separator.prior_w + separator.prior_b)
    slack = np.diag([1.0 / (2.0 * view.choice.C * weights[i]) for i in signs])
    M = np.outer(s, s) * (Z @ K @ Z.T + 1.0) + slack
    coef = s * np.linalg.lstsq(M, r, rcond=None)[0]
    return separator.prior_w + K @ Z.T @ coef, separator.prior_b + coef.sum()


def solved_without(view, known, weights, pair, separator, left_out):
    """Return w and b of the optimum over all rows of two labels but one."""
    mine = [i for i, (_, label) in known.items() if label in pair and i != left_out]
    Z = np.array([known[i][0] for i in mine], dtype=float) - view.origin
    signs = np.array([1.0 if known[i][1] == pair[0] else -1.0 for i in mine])
    K = np.diag(view.K) if view.K.ndim == 1 else view.K
    prior = separator.prior_w, separator.prior_b
    lam, counts = 1.0 / (2.0 * view.choice.C), np.array([weights[i] for i in mine])
    found = separators.by_nnls(Z, signs, K, *prior, lam, counts)
    return found.w, found.b
