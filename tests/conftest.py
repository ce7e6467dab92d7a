"""How random tests run: the same cases everywhere, and no deadline: machines are shared.

With MINOUT_LONG=1 they draw new cases, and many more (`make test-long`).
"""

import os
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
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile(
    "long", settings.get_profile("minout"), derandomize=False, max_examples=500
)
settings.load_profile("long" if os.environ.get("MINOUT_LONG") else "minout")


@pytest.fixture(autouse=True)
def _the_clock_stands_still(monkeypatch):
    """Files of learners that were taught the same at different times are equal."""
    monkeypatch.setattr("minout.steps.clock", lambda: 1_700_000_000.0)
