"""When a stream refreshes, and when it chooses its settings again."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import Learner
from minout.engine.regions import Members, Regions


def refreshes(labels):
    """Return after how many examples there was a refresh, and which of them chose settings."""
    rng, learner, found = np.random.default_rng(0), Learner(regions=1, expand=None), {}
    for n, label in enumerate(labels, start=1):
        refresh = learner.teach(rng.normal(size=3) + label, label).refresh
        if refresh is not None:
            found[n] = refresh.chose_settings
    return found


def test_in_a_shuffled_stream_a_refresh_comes_whenever_the_examples_have_doubled():
    found = refreshes([n % 3 for n in range(100)])
    assert [*found] == [2, 4, 8, 16, 32, 64]
    assert [n for n in found if found[n]] == [8, 32]


def test_of_two_labels_taught_one_after_the_other_the_second_is_not_late():
    found = refreshes([0] * 300 + [1] * 299)
    assert [*found] == [301, 316, 364, 556]
    assert [n for n in found if found[n]] == [316, 364, 556]


def test_of_ten_labels_taught_one_after_the_other_only_the_second_adds_refreshes():
    found = refreshes([n // 40 for n in range(400)])
    assert [*found] == [41, 56, 104, 208]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=20))
def test_the_size_of_the_largest_label_follows_every_change(changes):
    regions = Regions("aabbc", [Members() for _ in range(5)])
    for c, count in changes:
        regions.set_members(c, Members(np.arange(count)))
        sizes = dict.fromkeys("abc", 0)
        for label, members in zip("aabbc", regions.members, strict=True):
            sizes[label] += members.count
        assert regions.largest == max(sizes.values())


def test_a_third_label_brings_a_choice_at_the_next_refresh():
    found = refreshes([0] * 33 + [1] * 40 + [2] * 27)
    assert found == {34: False, 49: True, 98: True}
