"""`minout warmup`: compile all kernels now, for example while a container image is built."""

import time

from minout.cli.output import command
from minout.cli.progress import ProgressBar
from minout.errors import UnwritableError
from minout.kernels.warmup import cache_folder, warm_up


@command
def warmup() -> None:
    """Compile everything that learning, predicting and the paper's learner use.

    For container images: the first start is then fast. Compiled code is kept on disk for this kind
    of processor; NUMBA_CACHE_DIR sets the folder. A second call finds everything compiled.

    Example: minout warmup
    """
    folder = cache_folder()
    if folder is None:
        raise UnwritableError(
            "No folder for compiled code can be written; set NUMBA_CACHE_DIR to one that can."
        )
    began = time.monotonic()
    with ProgressBar("compiling") as bar:
        found = warm_up(
            lambda done, total: bar.update(lambda: done / total, lambda: f"{done} of {total}")
        )
    seconds = time.monotonic() - began
    if found.compiled:
        print(f"{found.ready} kernels are compiled ({seconds:.0f} s): {folder}")
    else:
        print(f"{found.ready} kernels were compiled before ({seconds:.1f} s): {folder}")
