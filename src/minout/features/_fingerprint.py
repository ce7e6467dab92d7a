"""The short name of a recipe and its settings."""

import hashlib
import json
from collections.abc import Mapping


def fingerprint(name: str, version: int, settings: Mapping[str, object]) -> str:
    """Joins a readable name, the version of the recipe and 16 digits that stand for it all.

    Equal settings have equal fingerprints, on every machine.

    >>> fingerprint("identity", 1, {"dtype": "float64"})
    'identity-1-3a3ccce43894c335'
    """
    written = json.dumps([name, version, settings], sort_keys=True)
    return f"{name}-{version}-{hashlib.sha256(written.encode()).hexdigest()[:16]}"
