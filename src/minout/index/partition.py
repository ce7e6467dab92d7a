"""The answer that both indexes give: the stored examples in three sets."""

from typing import NamedTuple

from minout._typing import Ints


class Partition(NamedTuple):
    """Divides the stored ids, ascending, by what an update of one neuron can do to them.

    s1: no neuron clips them. s2: only that neuron does. s3: another one does, so the unit's
    output is 0 before and after.
    """

    s1: Ints
    s2: Ints
    s3: Ints
