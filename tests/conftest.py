"""How random tests run: the same cases everywhere, and no deadline, since a first call compiles.

`pytest --hypothesis-profile search` draws new cases, and more of them.
"""

import re
import signal

import pytest
from hypothesis import HealthCheck, settings

LONGEST_NAME = 40

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So it is in a job that a shell runs in the background, and processes would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val, argname):
    """Name bytes by their parameter, and long strings or such with odd characters by their words.

    Bytes may hold a time or depend on a version, and names must be the same in every process.
    """
    if isinstance(val, bytes):
        return argname
    if not isinstance(val, str) or re.fullmatch(rf"[\w .:,;+-]{{1,{LONGEST_NAME}}}", val, re.ASCII):
        return None
    words = re.sub(r"[^\w.+-]+", " ", val[:1_000], flags=re.ASCII).strip()
    return words[:LONGEST_NAME].strip() or argname


settings.register_profile(
    "minout",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile(
    "search", settings.get_profile("minout"), derandomize=False, max_examples=300
)
settings.register_profile("quick", settings.get_profile("minout"), max_examples=20)
settings.load_profile("minout")


@pytest.fixture(autouse=True)
def _the_clock_stands_still(monkeypatch):
    """Files of learners that were taught the same at different times are equal."""
    for module in ("learner", "teaching"):
        monkeypatch.setattr(f"minout.{module}.clock", lambda: 1_700_000_000.0)
