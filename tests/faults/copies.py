"""Copies of a stored model, one after the other: damaged, forged, and with a forged container."""

import shutil
from zlib import crc32

import numpy as np

from . import forge
from .forms import ONE_FILE
from .trial import Copy

SHARES = {"damaged": 15, "forged": 35, "container": 9, "bomb": 1}
FOLDER_SHARES = {"damaged": 20, "forged": 20, "container": 18, "bomb": 2}


def copies(source, folder, count, seed, *, form=ONE_FILE):
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
        How the model is stored, and what can be done to it.
    """
    about, arrays = form.read(source)
    shares = SHARES if source.is_file() else FOLDER_SHARES
    groups = [group for group, share in shares.items() for _ in range(share)]
    made, turn = 0, 0
    while made < count:
        rng = np.random.default_rng([seed, turn, crc32(source.name.encode())])
        group = groups[int(rng.integers(len(groups)))]
        path = folder / f"copy{turn}"
        copy = _made(group, source, about, arrays, path, rng, form)
        turn += 1
        if copy is not None:
            made += 1
            yield copy


def _made(group, source, about, arrays, path, rng, form):
    if group == "damaged":
        kind, file = form.damage(source, path, rng)
        return Copy(f"damaged: {kind}", file, path, is_forged=False)
    kinds = {"forged": form.forgeries, "bomb": form.bombs, "container": form.containers}[group]
    kind = list(kinds)[int(rng.integers(len(kinds)))]
    try:
        if group == "container":
            what = kinds[kind](about, arrays, path, rng) or ""
        else:
            facts, changed, what = forge.forge(about, arrays, kinds[kind], rng)
            if what is None:
                return None
            form.write(path, facts, changed)
    except ValueError:  # content that cannot be written
        shutil.rmtree(path, ignore_errors=True)
        return None
    return Copy(f"{group}: {kind}", what, path, is_forged=True)
