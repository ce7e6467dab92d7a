"""Who is clipped where, the paper's three sets, and the rule for a set J, as sets of numbers."""

from oracle.units import sigmoid


def clipped_hard(a):
    """Names the neurons of a clipped minout unit with z_j(x) = max(a_j, 0) = 0."""
    return {j for j, each in enumerate(a) if max(each, 0) == 0}


def clipped_above(a):
    """Names the neurons of a clipped maxout unit with z_j(x) = min(a_j, 0) = 0."""
    return {j for j, each in enumerate(a) if min(each, 0) == 0}


def clipped_sigmoid(a):
    """Names the neurons whose activation value is smaller than 0.1, as in the experiments."""
    return {j for j, each in enumerate(a) if sigmoid(each) < 0.1}


def three_sets(clipped, neuron):
    """Divides examples (a list of sets of clipped neurons, by number) into S1, S2 and S3."""
    s1, s2, s3 = set(), set(), set()
    for example, neurons in enumerate(clipped):
        others = {j for j in neurons if j != neuron}
        if others:
            s3.add(example)
        elif neuron in neurons:
            s2.add(example)
        else:
            s1.add(example)
    return s1, s2, s3


def interfered(clipped, moved):
    """Names the examples all of whose clipped neurons are among those that moved."""
    return {example for example, neurons in enumerate(clipped) if all(j in moved for j in neurons)}


def closure(clipped, winners, neuron):
    """Names whom a step disturbs if everyone disturbed is rehearsed and moves a neuron too."""
    moved = {neuron}
    while True:
        at_risk = interfered(clipped, moved)
        more = moved | {winners[example] for example in at_risk}
        if more == moved:
            return at_risk
        moved = more
