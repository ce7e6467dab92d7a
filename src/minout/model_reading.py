"""Read a state from the records of a model's database; nothing in them is trusted."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import engine, kernels
from minout._typing import Floats, Ints
from minout.codecs import ExactCodec
from minout.engine import Columns, MalformedError, State
from minout.features import FeatureMap
from minout.model_changes import ABOUT, NOTES
from minout.model_file import check_codec, expect_rows_of, found_features, header
from minout.store import decode_arrays
from minout.store.database import Known
from minout.store.reading import ExampleColumns, Reading
from minout.store.schema import Key

SPARE = 2**26
"""The rows of a state may take so many bytes beyond twice the size of the file: for free places.

Where they would take more, the places that are in use are numbered from 0 again.
"""
NOWHERE = -1
"""The new number of a place that is free."""


class SparseError(Exception):
    """The rows would take too many bytes, and only the examples that changed were read."""


class Loaded(NamedTuple):
    """A state that was read, its feature map, and what the store needs to adopt it.

    `notes` are those in the database, as JSON; those of the state may have changes that are not
    committed. `known` is its number in the database; None if nothing has been committed yet.
    With `is_renumbered`, places have other numbers than in the database.
    """

    features: FeatureMap
    state: State
    header: dict[str, Any]
    positions: Ints
    notes: str
    known: Known | None = None
    is_renumbered: bool = False


class Expected(NamedTuple):
    """What a state that is read must match, and what is known of it already.

    A feature map or codec that is given must be that of the state. Examples that have not changed
    are taken from the state `known`, in which they have these positions.
    """

    features: FeatureMap | None
    codec: ExactCodec | None
    known: State | None = None
    positions: Ints = np.zeros(0, dtype=np.int64)


def read_state(reading: Reading, file: Path, expected: Expected) -> Loaded:
    """Return the state that the records of a file describe.

    Raises MalformedError or DamagedRecord if they are not those of a state, and SparseError if all
    examples must be read.
    """
    codec = expected.codec
    values = reading.keyed("parts")
    about = _checked_about(_decoded(values.pop(ABOUT, b"")))
    notes = _decoded(values.pop(NOTES, b""))
    found = found_features(file, about.get("features"), expected.features)
    shared = _shared(values)
    if about["dtype"] != "uint8" and about["width"] > len(shared.get("origin", ())):
        raise MalformedError("width")  # before memory is taken for rows; codes have another width
    columns, numbers = _columns(reading, about, expected)
    separators = {
        int(key): decode_arrays(value) for key, value in reading.keyed("separators").items()
    }
    images = _images_of(reading.keyed("images"), shared, _image_dtype(about, shared))
    if numbers is not None:
        separators = {
            pair: engine.renumbered(record, numbers) for pair, record in separators.items()
        }
        images = images[0], engine.numbered(images[1], numbers)
    check_codec(file, about["state"], codec)
    packed = engine.gathered(about["state"], notes, columns, separators, images, shared)
    state = engine.unpacked(*packed, codec)
    expect_rows_of(found, state)
    kept = {key: about.get(key) for key in header(found)}
    loaded = Loaded(found, state, kept, columns.positions, json.dumps(notes))
    return loaded._replace(is_renumbered=numbers is not None)


def _shared(values: dict[Key, bytes]) -> dict[str, NDArray[Any]]:
    # The arrays of all parts; each must be in its own part, else a later change would miss it.
    if not values.keys() <= set(engine.SHARED):
        raise MalformedError("parts")
    shared: dict[str, NDArray[Any]] = {}
    for part in engine.SHARED:
        arrays = decode_arrays(values[part]) if part in values else {}
        if not all(engine.belongs_to(part, name) for name in arrays):
            raise MalformedError(part)
        shared |= arrays
    return shared


def _columns(
    reading: Reading, about: dict[str, Any], expected: Expected
) -> tuple[Columns, Ints | None]:
    # The examples, and the new numbers of all places if they are numbered again.
    end, width, dtype = about["end"], about["width"], np.dtype(about["dtype"])
    changed, numbers = reading.examples(end), None
    _check_labels(changed, about["state"]["labels"])
    in_file = np.arange(end)
    if end * width * dtype.itemsize > 2 * reading.limit + SPARE:
        if reading.since:
            raise SparseError
        changed, in_file = _without_free(changed)
        numbers = np.full(end, NOWHERE, dtype=np.int64)
        end = len(in_file)
        numbers[in_file] = np.arange(end)
        if end * width * dtype.itemsize > reading.limit:
            raise MalformedError("rows")
    old = expected.known if reading.since else None
    columns = _known_columns(old, expected.positions, end, width, dtype)
    known = np.where(columns.stored, columns.digests, 0)
    _put(columns, changed)
    places = np.flatnonzero(columns.stored & (columns.digests != known))
    for found, values in reading.rows(in_file[places], width * dtype.itemsize):
        at = found if numbers is None else numbers[found]
        rows = np.frombuffer(values, dtype).reshape(len(at), width)
        words = rows.view(f"u{dtype.itemsize}")
        if kernels.count_wrong_digests(words, columns.digests[at]):
            raise MalformedError("digest")
        columns.rows[at] = rows
    if old is not None:  # otherwise they are zeros, for which no memory is taken
        columns.rows[~columns.stored] = 0
    return columns, numbers


def _without_free(columns: ExampleColumns) -> tuple[ExampleColumns, Ints]:
    # The records of the places in use, numbered from 0, and the places that they had.
    used = np.flatnonzero([id is not None for id in columns.ids])
    numbers = columns.numbers[used]
    places = numbers["place"].copy()
    numbers["place"] = np.arange(len(used))
    ids, labels, corrected = (
        tuple(texts[n] for n in used.tolist())
        for texts in (columns.ids, columns.labels, columns.corrected)
    )
    return ExampleColumns(numbers, ids, labels, corrected), places


def _check_labels(changed: ExampleColumns, labels: list[Any]) -> None:
    # The record of each example repeats the label of its region.
    names = [json.dumps(each) for each in labels]
    for id, label, region in zip(
        changed.ids, changed.labels, changed.numbers["region"].tolist(), strict=True
    ):
        if id is not None and not (0 <= region < len(names) and names[region] == label):
            raise MalformedError("label")


def _decoded(value: bytes | str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise MalformedError("JSON") from None


def _checked_about(about: Any) -> dict[str, Any]:
    if not isinstance(about, dict) or not {"end", "width", "dtype", "state"} <= set(about):
        raise MalformedError("about")
    if not isinstance(about["state"], dict) or not isinstance(about["state"].get("labels"), list):
        raise MalformedError("labels")
    if about["dtype"] not in ("float32", "float64", "uint8"):
        raise MalformedError("dtype")
    if any(type(about[name]) is not int or about[name] < 0 for name in ("end", "width")):
        raise MalformedError("about")
    return about


def _known_columns(
    old: State | None, positions: Ints, end: int, width: int, dtype: np.dtype[Any]
) -> Columns:
    # Columns for `end` places, with what is known of them.
    columns = Columns(
        [""] * end,
        {},
        np.zeros((end, width), dtype=dtype),
        np.zeros(end, dtype=np.int64),
        np.zeros(end, dtype=np.int64),
        np.zeros(end, dtype=np.uint64),
        np.zeros(end, dtype=bool),
        np.ones(end),
        np.zeros(end),
        np.zeros(end, dtype=np.int64),
    )
    if old is None or (old.examples.given.shape[1], old.examples.given.dtype) != (width, dtype):
        return columns
    examples = old.examples
    known = np.flatnonzero(examples.stored[: min(end, examples.end)])  # the others are free
    columns.rows[known], columns.positions[known] = examples.given[known], positions[known]
    for name in ("regions", "digests", "stored", "weights", "times", "serials"):
        getattr(columns, name)[known] = getattr(examples, name)[known]
    for place in known.tolist():
        columns.ids[place] = old.ids[place]
    for id, labels in old.corrected.items():
        columns.corrected[old.place_of[id]] = labels
    return columns


def _put(columns: Columns, changed: ExampleColumns) -> None:
    numbers = changed.numbers
    places = numbers["place"]
    columns.stored[places] = [each is not None for each in changed.ids]
    columns.regions[places], columns.positions[places] = numbers["region"], numbers["position"]
    columns.weights[places], columns.times[places] = numbers["weight"], numbers["time"]
    columns.serials[places] = numbers["serial"]
    columns.digests[places] = numbers["digest"].view(np.uint64)
    for place, id, labels in zip(places.tolist(), changed.ids, changed.corrected, strict=True):
        columns.ids[place] = "" if id is None else _id(id)
        columns.corrected.pop(place, None)
        if labels is not None:
            columns.corrected[place] = _labels(labels)


def _id(text: str) -> Any:
    is_number = text.isascii() and text.isdigit() and (text[0] != "0" or text == "0")
    return int(text) if is_number and len(text) < 20 else _decoded(text)


def _labels(text: str) -> tuple[Any, ...]:
    labels = _decoded(text)
    if not isinstance(labels, list):
        raise MalformedError("corrected")
    return tuple(labels)


def _image_dtype(about: dict[str, Any], shared: dict[str, NDArray[Any]]) -> np.dtype[Any]:
    state = about["state"]
    memory = state.get("memory") if isinstance(state, dict) else None
    name = memory.get("dtype") if isinstance(memory, dict) else about["dtype"]
    if "far.V" in shared:
        name = "float64"
    if name not in ("float32", "float64"):
        raise MalformedError("memory")
    return np.dtype(name)


def _images_of(
    values: dict[Key, bytes], shared: dict[str, NDArray[Any]], dtype: np.dtype[Any]
) -> tuple[Floats, Ints]:
    width = len(shared.get("origin", ()))
    if any(len(value) != width * dtype.itemsize for value in values.values()):
        raise MalformedError("images")
    images = np.zeros((len(values), width), dtype=dtype)
    for n, value in enumerate(values.values()):
        images[n] = np.frombuffer(value, dtype)
    return images, np.array(list(values), dtype=np.int64)
