"""Damage that happens to files: bytes are lost, changed, moved or added; checksums do not follow.

Every kind takes the bytes of one file and a random generator, and returns other bytes.
"""

import shutil

DATABASE, LOG = "model.sqlite", "model.sqlite-wal"
BLOCK, PAGE = 512, 8_192


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
    """Exchange two blocks of a disk, or pages of a database."""
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


def added(content, rng):
    """Add bytes at the start or the end: random ones, zeros, or the file once more."""
    more = [rng.bytes(int(rng.integers(1, 99))), bytes(4096), content, b"\n"]
    more = more[int(rng.integers(len(more)))]
    return content + more if rng.random() < 0.5 else more + content


def foreign(content, rng):
    """Replace the file by one of another kind."""
    others = [b"", b"hello", b"SQLite format 3\0" + bytes(4080), b"PK\x03\x04" + rng.bytes(200)]
    return others[int(rng.integers(len(others)))]


KINDS = (truncated, flipped, overwritten, swapped, zeroed, cut_out, added, foreign)


def damage(source, target, rng):
    """Copy a stored model, a file or a folder, and damage one of its files; return how."""
    if source.is_file():
        shutil.copyfile(source, target)
        return _damaged(target, rng)
    is_live = rng.random() < 0.5
    shutil.copytree(source if is_live else source.with_name(f"{source.name}.closed"), target)
    names = [DATABASE] * 2 + [LOG] * is_live
    file = target / names[int(rng.integers(len(names)))]
    earlier = source.with_name(f"{source.name}.earlier1") / file.name
    kind = rng.random()
    if kind < 0.1 and is_live:  # a whole file is that of an earlier state
        shutil.copyfile(earlier, file)
        return f"earlier {file.name}"
    if kind < 0.3 and is_live and file.name == DATABASE:  # a page has never been written
        old, new = earlier.read_bytes(), file.read_bytes()
        start = PAGE * int(rng.integers(len(new) // PAGE))
        file.write_bytes(new[:start] + old[start : start + PAGE] + new[start + PAGE :])
        return "earlier page"
    return _damaged(file, rng)


def _damaged(file, rng):
    kind = KINDS[int(rng.integers(len(KINDS)))]
    content = file.read_bytes()
    file.write_bytes(kind(content, rng))
    return f"{kind.__name__} {file.name}"


def _block(content, rng):
    return PAGE if len(content) > 2 * PAGE and rng.random() < 0.5 else BLOCK
