"""How long tests run: `MINOUT_LONG=1 pytest` tries many more cases, `MINOUT_KILLS=1000` as many."""

import os

LONG = os.environ.get("MINOUT_LONG") == "1"


def how_many(name, few, many):
    """Return how many cases to try: the number in a variable of the environment, if it is set."""
    return int(os.environ.get(name, many if LONG else few))
