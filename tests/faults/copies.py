"""Copies of a stored model, one after the other: damaged, forged, and with a forged container."""

from zlib import crc32

import numpy as np

from minout import Learner
from minout.store import read_archive, write_archive

from . import damage, forge, forge_archive
from .trial import Copy, Form

ONE_FILE = Form(
    read=lambda path: read_archive(path, "minout model", 2),
    write=lambda path, about, arrays: write_archive(path, about, arrays, "The model"),
    open=Learner.load,
)


def copies(source, folder, count, seed, *, form=ONE_FILE, containers=forge_archive.KINDS):
    """Yield copies of a stored model; each is written when it is asked for.

    Parameters
    ----------
    source : Path
        The undamaged model, a file or a folder.
    folder : Path
        Where copies are written. A copy is the caller's to delete.
    count : int
        How many.
    seed : int
        Copies are the same for the same seed, model and name of the source.
    form : Form
        How content is read and written.
    containers : dict of str to callable
        Forgeries of the form itself: `call(about, arrays, path, rng)` writes one.
    """
    about, arrays = form.read(source)
    shares = {"damaged": 15, "forged": 35, "container": 9, "bomb": 1}
    groups = [group for group, share in shares.items() for _ in range(share)]
    made, turn = 0, 0
    while made < count:
        rng = np.random.default_rng([seed, turn, crc32(source.name.encode())])
        group = groups[int(rng.integers(len(groups)))]
        path = folder / f"copy{turn}"
        copy = _made(group, source, about, arrays, path, rng, form, containers)
        turn += 1
        if copy is not None:
            made += 1
            yield copy


def _made(group, source, about, arrays, path, rng, form, containers):
    if group == "damaged":
        kind = _choice(damage.KINDS, rng)
        file = damage.damage(source, path, kind, rng)
        return Copy(f"damaged: {kind}", file, path, is_forged=False)
    if group in ("forged", "bomb"):
        kind = _choice(forge.KINDS if group == "forged" else forge.BOMBS, rng)
        facts, changed, what = forge.forge(about, arrays, kind, rng)
        if what is None:
            return None
        try:
            form.write(path, facts, changed)
        except ValueError:  # text that cannot be written
            return None
        return Copy(f"{group}: {kind}", what, path, is_forged=True)
    kind = _choice(containers, rng)
    containers[kind](about, arrays, path, rng)
    return Copy(f"container: {kind}", "", path, is_forged=True)


def _choice(kinds, rng):
    return list(kinds)[int(rng.integers(len(kinds)))]
