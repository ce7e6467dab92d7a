"""Damaged and forged copies are noticed, harmless, or other valid models."""

import pytest

from faults.models import MODELS, questions
from faults.trial import FORMS, IDENTICAL, NOTICED, tried
from long import LONG
from oracle.child import in_child

COUNTS = {"file": 24, "folder": 16}
IN_FOLDERS = ("far", "weights")
TRIED = [(form, name) for form in FORMS for name in MODELS]
SHORT = [each for each in TRIED if each[0] == "file" or each[1] in IN_FOLDERS]


@pytest.mark.parametrize(
    ("form", "name"), TRIED if LONG else SHORT, ids=map("-".join, TRIED if LONG else SHORT)
)
def test_no_copy_does_harm(tmp_path, form, name):
    count = 5_000 // len(TRIED) if LONG else COUNTS[form]

    def work():
        found, problems = tried(FORMS[form], MODELS[name], questions(), tmp_path, count, 20)
        for each in problems:
            print(each)
        return 3 if problems else 0 if found[NOTICED] > count / 4 and found[IDENTICAL] else 4

    assert in_child(work, patience=60.0 + 2.0 * count) == 0
