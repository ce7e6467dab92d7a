"""The state of the engine: an immutable snapshot of examples, separators and settings."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels, maths
from minout._typing import Floats, Id, Ints, Label
from minout.codecs import ExactCodec
from minout.core.choice import Choice
from minout.core.examples import Examples
from minout.core.frame import Frame
from minout.core.pool import Problem, weights
from minout.core.regions import NO_PLACES, Members, Regions, pair_count
from minout.core.reports import Certificate, Refresh
from minout.core.scores import ClassScores
from minout.core.separators import ROUNDING, SUFFICIENT_MARGIN, Separator, Separators
from minout.core.settings import Settings
from minout.core.window import Ages
from minout.kernels import Pool

FEW = 64
"""Places are numbered anew when half are of forgotten examples, and there are more than so many."""
PIECE, LEAST = 2**22, 64  # the products, and the rows, of a piece of scores for a thread


class Widths(NamedTuple):
    """The length of an example as passed in, and of its row; None before the first example."""

    given: int | None = None
    row: int | None = None


class Move(NamedTuple):
    """The separators that the last step moved, as they were before it, by number.

    None for one without a record. `scores`, `regions` and `origin` are the class scores, the number
    of regions and the origin before the step, `added` the place of the row that it added.
    """

    separators: dict[int, Separator | None]
    scores: ClassScores
    regions: int
    added: int
    origin: Floats


class State:
    """Everything that the engine knows between two steps; never changed.

    A step returns a new state, which shares what has not changed. So whoever holds a state may read
    it for as long as it likes, whatever is taught meanwhile.
    """

    def __init__(
        self, settings: Settings, width: int, dtype: Any, codec: ExactCodec | None = None
    ) -> None:
        self.settings = settings  # as the user passed them
        self.examples = Examples(width, dtype, codec=codec)
        if settings.missing == "mean":
            self.examples = self.examples.expanded_by(maths.filling(width))
        self.regions = Regions()
        self.separators = Separators(ClassScores.zero(NO_PLACES, width))
        self.listed: dict[bytes, int] = {}  # how many misfits there are with each digest
        self.frame = Frame.first(settings, np.zeros(width, dtype=dtype), 0)
        self.widths = Widths()
        self.next_id = 0  # from here on the next free id is searched
        self.taught = 0  # the next serial number; `consolidate` numbers the examples from 0 again
        self.corrected: dict[Id, tuple[Label, ...]] = {}  # the labels that examples had before
        self.consolidated = False  # and nothing has changed since
        self.last_move: Move | None = None  # not saved
        self.schema: Any = None  # what the caller knows of its inputs
        self._ages: Ages | None = None

    def replaced(self, **changes: Any) -> "State":
        """Return a state with other values of some attributes."""
        twin = State.__new__(State)
        twin.__dict__ = vars(self) | changes
        twin._ages = None
        return twin

    def followed_by(self, new: "State", place: int) -> None:
        """Pass the cache of ages on to the next state, which has one more example at a place.

        It is taken from this state, because it is changed in place.
        """
        ages, self._ages = self._ages, None
        if ages is not None:
            ages.add(new.label_at(place), place, new.examples.about(place))
            new._ages = ages

    @property
    def count(self) -> int:
        """The number of stored examples."""
        return self.examples.count

    @property
    def turnover(self) -> int:
        """How many examples have been taught and forgotten since they were numbered from 0."""
        return 2 * self.taught - self.count

    def by_age(self) -> Ages:
        """Return the stored examples by age; only the thread that makes the next state may ask."""
        if self._ages is None:
            self._ages = Ages(self)
        return self._ages

    def place_of(self, example_id: Id) -> int | None:
        """Return the place of a stored example; None if there is none with this id."""
        return self.examples.place_of(example_id)

    @property
    def labels(self) -> list[Label]:
        """The labels, each once, in the order of their first regions."""
        return self.regions.names

    @property
    def choice(self) -> Choice:
        """The settings in use."""
        return self.frame.choice

    def row_at(self, place: int) -> Floats:
        """Return a stored row without an expansion; it may be a view."""
        return self.examples.rows[place]

    def holds(self, place: int, x: NDArray[Any]) -> bool:
        """Return whether a row, or a code, is the one that is stored at a place."""
        row = self.examples.coded(x[None])[0]
        return np.array_equal(self.examples.given[place], row, equal_nan=True)

    def expanded(self, X: NDArray[Any]) -> Floats:
        """Return rows (n, d) as the separators see them, with the hats of their columns.

        With a codec they are encoded and decoded first; codes are decoded.
        """
        return maths.expanded(self.examples.expansion, self.examples.read(X))

    def label_at(self, place: int) -> Label:
        """Return the label of a stored example."""
        return self.regions.labels[int(self.examples.regions[place])]

    def margins(self, x: Floats, c: int) -> Floats:
        """Return the margins of an expanded row in region c: (regions,), inf within its label.

        With far pairs, a margin that is neither the least nor below the bound may be a lower bound.
        """
        out = np.full(len(self.regions), np.inf)
        self._margins(x, c, -np.inf, out)
        return out

    def _margins(self, x: Floats, c: int, enough: float, out: Floats) -> float:
        # Set the margins, and return the least; some may be missing if that is below `enough`.
        separators, geometry, owner = self.separators, self.frame.geometry, self.regions.order.owner
        W, b, at, origin = separators.W, separators.b, separators.at, geometry.origin
        if not separators.has_far:
            return float(kernels.region_margins(W, b, at, x, origin, owner, c, enough, out))
        length, far = float(self.lengths(x[None])[0]), self.far(x[None])
        return float(kernels.far_margins(far, x, origin, length, c, SUFFICIENT_MARGIN, out))

    def placed(self, x: Floats, label: Label) -> tuple[int | None, Floats, float]:
        """Return the region of a label where the least margin of an expanded row is highest.

        With the margins in it, and the least. Of equal regions it is the first; None if the label
        is not stored.
        """
        best, found, margins = -np.inf, None, np.empty(0)
        for c in self.regions.of(label):
            out = np.empty(len(self.regions))
            out.fill(np.inf)
            least = self._margins(x, c, best, out)
            if found is None or least > best:
                best, found, margins = least, c, out
        return found, margins, best

    def scores(self, X: Floats) -> Floats:
        """Return the scores of expanded rows for each label, in order: (n, labels).

        It is the highest score of its regions.
        """
        return self.label_scores(self.region_scores(X))

    def label_scores(self, scores: Floats) -> Floats:
        """Return the highest score of the regions of each label: (n, regions) → (n, labels)."""
        rank, owner = self.regions.order
        by_rank = np.argsort(rank)
        starts = np.searchsorted(owner[by_rank], np.arange(len(self.regions.names)))
        return np.maximum.reduceat(scores[:, by_rank], starts, axis=1)

    def region_scores(self, X: Floats) -> Floats:
        """Return the smallest margin that expanded rows would have in each region: (n, regions)."""
        out = np.empty((len(X), len(self.regions)))
        separators, origin = self.separators, self.frame.geometry.origin
        owner = self.regions.order.owner

        def compute(rows: slice) -> None:
            W, b, at = separators.W, separators.b, separators.at
            kernels.scores(W, b, at, X[rows], origin, owner, out[rows])

        def compute_far(rows: slice) -> None:
            lengths, ones = self.lengths(X[rows]), np.ones(len(out[rows]))
            kernels.far_scores(self.far(X[rows]), X[rows], origin, lengths, ones, out[rows])

        work = compute_far if separators.has_far else compute
        kernels.in_threads(work, pieces(len(X), X.shape[1] * pair_count(len(self.regions))))
        return out

    def far(self, X: Floats) -> kernels.Far:
        """Return what the kernels for far pairs take to compute the values of expanded rows."""
        images, owner = self.frame.images, self.regions.order.owner
        return self.separators.for_kernels(images, owner, self.examples.table, X)

    def lengths(self, X: Floats) -> Floats:
        """Return the norm of each expanded row less the origin in the metric, rounded up."""
        Z, K = X - self.frame.geometry.origin, self.frame.geometry.K
        images = Z * K if K.ndim == 1 else Z @ K
        products = np.einsum("ij,ij->i", Z, images)
        rounding = 1e-10 * np.linalg.norm(Z, axis=1) * np.linalg.norm(images, axis=1)
        return np.asarray((1.0 + ROUNDING) * np.sqrt(np.abs(products) + rounding))

    def weights(self, pair: int, earlier: Move | None = None) -> tuple[Floats, float]:
        """Return w and b of a separator, now or before a move; those of a far pair are computed."""
        separators = self.separators
        record, scores, at = separators.records.get(pair), separators.scores, separators.at[pair]
        if earlier is not None and pair in earlier.separators:
            record, scores, at = earlier.separators[pair], earlier.scores, 0
        if at > 0:  # as the kernels see them
            return separators.W[at], float(separators.b[at])
        if record is not None and not record.is_far:
            return record.w, record.b
        pool = Pool() if record is None else record.pool
        return weights(scores.prior(pair), pool, self.problem())

    def problem(self) -> Problem:
        """Return what separators are computed from, for one who only reads."""
        examples, frame = self.examples, self.frame
        images, lam = frame.images.apart(), frame.choice.lam
        columns = examples.table, examples.weights, examples.digests
        return Problem(*columns, frame.geometry, images, lam)

    def misfits(self) -> Ints:
        """Return the places of all misfits, ascending.

        A misfit is on the wrong side of a separator of its region, or has the same row as such an
        example: of equal rows with two labels at most one can be on the right side.
        """
        listed = self.listed
        if not listed:
            return NO_PLACES
        stored = self.examples.places()
        wanted = np.array([*listed], dtype="S16")
        return stored[np.isin(self.examples.digests[stored], wanted)]

    def pending(self) -> Ints:
        """Return the places that are pending in a separator, ascending."""
        parts = [record.pending for record in self.separators.records.values()]
        return np.unique(np.concatenate([NO_PLACES, *parts]))

    def names(self, places: Ints) -> tuple[Id, ...]:
        """Return the ids at some places."""
        return tuple(self.examples.ids[place] for place in places.tolist())


def pieces(rows: int, products: int) -> list[slice]:
    """Divide rows that take so many products each into pieces that are worth a thread."""
    size = max(PIECE // max(products, 1), LEAST)
    return [slice(start, start + size) for start in range(0, rows, size)]


class Step(NamedTuple):
    """What a step returns: the state after it, and the reports for the caller.

    `was_right` is whether the state before gave the row that is taught its label; None if no
    example had the label, or nothing was taught.
    """

    state: State
    certificate: Certificate
    refresh: Refresh | None = None
    was_right: bool | None = None


def compacted(state: State) -> State:
    """Return the same state without the rows of forgotten examples, places numbered from 0.

    The state itself if fewer than half of all places are of forgotten examples.
    """
    examples = state.examples
    if examples.end <= max(FEW, 2 * examples.count):
        return state
    places, number = examples.places(), np.full(examples.end, -1, dtype=np.int64)
    number[places] = np.arange(len(places))
    members = [Members(number[each.places]) for each in state.regions.members]
    move = state.last_move
    if move is not None:
        earlier = {p: old and old.moved(number) for p, old in move.separators.items()}
        move = move._replace(added=int(number[move.added]), separators=earlier)
    return state.replaced(
        examples=examples.only(places).expanded_by(examples.expansion),
        regions=Regions(state.regions.labels, members),
        separators=state.separators.moved(number),
        frame=state.frame._replace(images=state.frame.images.moved(number)),
        last_move=move,
    )
