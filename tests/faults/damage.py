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
    blocks = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
    a, b = rng.integers(len(blocks), size=2).tolist()
    blocks[a], blocks[b] = blocks[b], blocks[a]
    return b"".join(blocks)


def zeroed(content, rng):
    """Fill a block with zeros, as a file system does after a crash."""
    start = BLOCK * int(rng.integers(len(content) // BLOCK + 1))
    length = len(content[start : start + BLOCK])
    return content[:start] + bytes(length) + content[start + length :]


def cut_out(content, rng):
    """Leave out some bytes in the middle."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 2 * BLOCK))
    return content[:start] + content[start + length :]


def repeated(content, rng):
    """Repeat a block."""
    start = BLOCK * int(rng.integers(len(content) // BLOCK + 1))
    return content[: start + BLOCK] + content[start:]


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


def damage(source, target, kind, rng):
    """Copy a stored model, and damage one of its files; return the name of that file."""
    source, target = Path(source), Path(target)
    if source.is_dir():
        shutil.copytree(source, target)
        files = sorted(each for each in target.rglob("*") if each.is_file())
        file = files[int(rng.integers(len(files)))]
    else:
        shutil.copyfile(source, target)
        file = target
    content = file.read_bytes()
    file.write_bytes(KINDS[kind](content, rng) if content else KINDS["appended"](content, rng))
    return file.name
