"""Files that are there whole or not at all."""

import os
import tempfile
from pathlib import Path

from minout.errors import UnwritableError


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Writes beside the file and renames; `what` begins the sentence if that cannot be done."""
    beside: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        beside = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        beside.chmod(0o644)
        beside.replace(path)
    except OSError as error:
        raise UnwritableError(
            f"{what} could not be written to {path}: {error.strerror}."
        ) from error
    finally:
        if beside is not None and beside.is_file():
            beside.unlink()
