"""Whether tests run in their long form: `MINOUT_LONG=1 pytest` kills 1,000 processes, and so on."""

import os

LONG = os.environ.get("MINOUT_LONG") == "1"
