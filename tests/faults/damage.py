"""Damage that happens to files: bytes are lost, changed, moved or added; checksums do not follow.

Every kind takes the bytes of one file and a random generator, and returns other bytes. `damage`
copies a stored model, a file or a folder, and damages one of its files.
"""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np

BLOCK = 512
_PAGE = 8_192
DATABASE, LOG = "model.sqlite", "model.sqlite-wal"


def truncated(content, rng):
    """Cut the end off."""
    return content[: int(rng.integers(len(content)))]


def flipped(content, rng):
    """Flip one bit, or some."""
    out = bytearray(content)
    for place in rng.integers(len(out), size=int(rng.choice([1, 1, 1, 4]))).tolist():
        out[place] ^= 1 << int(rng.integers(8))
    return bytes(out)


def overwritten(content, rng):
    """Overwrite some bytes with random ones."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 64))
    return content[:start] + rng.bytes(length) + content[start + length :]


def swapped(content, rng):
    """Exchange two blocks."""
    size = _block(content, rng)
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    a, b = rng.integers(len(blocks), size=2).tolist()
    blocks[a], blocks[b] = blocks[b], blocks[a]
    return b"".join(blocks)


def zeroed(content, rng):
    """Fill a block with zeros, as a file system does after a crash."""
    size = _block(content, rng)
    start = size * int(rng.integers(len(content) // size + 1))
    length = len(content[start : start + size])
    return content[:start] + bytes(length) + content[start + length :]


def cut_out(content, rng):
    """Leave out some bytes in the middle."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 2 * BLOCK))
    return content[:start] + content[start + length :]


def repeated(content, rng):
    """Repeat a block."""
    size = _block(content, rng)
    start = size * int(rng.integers(len(content) // size + 1))
    return content[: start + size] + content[start:]


def appended(content, rng):
    """Add bytes at the end: random ones, zeros, or the file once more."""
    more = [rng.bytes(int(rng.integers(1, 99))), bytes(4096), content, b"\n"]
    return content + more[int(rng.integers(len(more)))]


def preceded(content, rng):
    """Add bytes at the start."""
    more = [rng.bytes(int(rng.integers(1, 99))), bytes(4096), content, b"#!/bin/sh\n"]
    return more[int(rng.integers(len(more)))] + content


def foreign(content, rng):
    """Replace the file by one of another kind."""
    others = [
        b"",
        b"hello",
        pickle.dumps({"a": np.ones(3)}),
        json.dumps({"format": "minout model"}).encode(),
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        b"SQLite format 3\0" + bytes(4080),
        b"PK\x03\x04" + rng.bytes(200),
        b"PK\x05\x06" + bytes(18),
        rng.bytes(len(content)),
    ]
    return others[int(rng.integers(len(others)))]


KINDS = {
    each.__name__: each
    for each in (
        *(truncated, flipped, overwritten, swapped, zeroed),
        *(cut_out, repeated, appended, preceded, foreign),
    )
}


def damage(source, target, rng, earlier=()):
    """Copy a stored model, and damage one of its files; return how, and the name of that file.

    `earlier` are folders of earlier states of the model, for damage that has to do with them.
    """
    source, target = Path(source), Path(target)
    if source.is_dir():
        shutil.copytree(source, target)
        names = sorted(each.name for each in target.iterdir())
        files = [DATABASE] * 12 + [LOG] * 6 * (LOG in names) + names
        file = target / files[int(rng.integers(len(files)))]
        if earlier and rng.random() < 0.25:
            kind = list(OF_FOLDERS)[int(rng.integers(len(OF_FOLDERS)))]
            OF_FOLDERS[kind](file, earlier[int(rng.integers(len(earlier)))], rng)
            return kind, file.name
    else:
        shutil.copyfile(source, target)
        file = target
    kind = list(KINDS)[int(rng.integers(len(KINDS)))]
    content = file.read_bytes()
    file.write_bytes(KINDS[kind](content, rng) if content else appended(content, rng))
    return kind, file.name


def missing_file(file, earlier, rng):
    """Remove a file."""
    file.unlink()


def older_file(file, earlier, rng):
    """Replace a file by that of an earlier state, which is intact."""
    file.unlink()
    if (earlier / file.name).exists():
        shutil.copyfile(earlier / file.name, file)


def older_page(file, earlier, rng):
    """Replace a page by the one of an earlier state, as if it had never been written."""
    old = (earlier / file.name).read_bytes() if (earlier / file.name).exists() else b""
    new, size = file.read_bytes(), _PAGE if file.name == DATABASE else _PAGE + 24
    start = (0 if file.name == DATABASE else 32) + size * int(rng.integers(len(new) // size + 1))
    file.write_bytes(new[:start] + old[start : start + size] + new[start + size :])


OF_FOLDERS = {each.__name__: each for each in (missing_file, older_file, older_page)}


def _block(content, rng):
    # Parts of a file that are exchanged: blocks of a disk, or pages of a database.
    return _PAGE if len(content) > 2 * _PAGE and rng.random() < 0.5 else BLOCK
