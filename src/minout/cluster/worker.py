"""A process that `Local` has started: it answers tasks until its socket is closed."""

import mmap
import os
import pickle
import select
import threading
from multiprocessing.connection import Connection
from typing import Any

from minout.cluster.local import Mapped
from minout.cluster.session import answer, cannot_load


def main(socket: int) -> None:
    """Answer tasks; end at once when the process that asks has ended."""
    threading.Thread(target=_end_with, args=[socket], daemon=True).start()
    link, values = Connection(socket), dict[int, Any]()
    while True:
        try:
            job, mapped = pickle.loads(link.recv_bytes())
        except EOFError:
            return
        try:  # what the last task did not need is dropped
            values = {each.number: _value(each, values) for each in mapped}
        except (AttributeError, ImportError) as error:
            link.send_bytes(cannot_load(error))
            continue
        link.send_bytes(answer(job, *(values[each.number] for each in mapped)))


def _value(mapped: Mapped, known: dict[int, Any]) -> Any:
    if mapped.number in known:
        return known[mapped.number]
    with open(mapped.file, "rb") as file:
        everything = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    first, *others = (everything[start:end] for start, end in mapped.parts)
    return pickle.loads(first, buffers=others)


def _end_with(socket: int) -> None:
    hung_up = select.poll()
    hung_up.register(socket, 0)  # a hang-up is always reported
    hung_up.poll()
    os._exit(1)
