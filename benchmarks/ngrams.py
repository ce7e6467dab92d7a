"""Count the n-grams of English, and write their weights: `python -m benchmarks.ngrams FOLDER`.

They are counted in the definitions of WordNet and in Moby Dick, which no benchmark uses, and
written to `src/minout/features/common.txt`. FOLDER is one that `fetch.py` has filled.
"""

import re
import sys
from collections import Counter
from itertools import pairwise
from math import log
from pathlib import Path
from unicodedata import normalize

import minout.features.text as recipe

COMMON = 4_000
"""How many n-grams have a weight below 1: those most common in the source that has fewer."""
POWER = 1.5
"""The weight is the inverse document frequency, as scikit-learn has it, to this power."""
LENGTHS = range(2, 5)
"""The lengths of runs of characters, as in `native/projecting.hpp`."""
CHARACTERS, PIECES = 300, 10_000
"""The length of a piece of text in which an n-gram is counted once, and how many of a source."""


def main(folder: Path) -> None:
    """Count, and write the weights, a line for each weight."""
    shares = [_shares(texts) for texts in (_definitions(folder), _novel(folder))]
    share = {each: min(known[each] for known in shares) for each in shares[0].keys() & shares[1]}
    common = sorted(share, key=lambda each: (-share[each], each))[:COMMON]
    rarest = 1.0 - log(share[common[-1]])
    lines: dict[tuple[int, str], list[str]] = {}
    for kind, ngram in common:
        weight = round(recipe.STEPS * ((1.0 - log(share[kind, ngram])) / rarest) ** POWER)
        lines.setdefault((weight, kind), []).append(ngram.replace(" ", recipe.SPACE))
    written = [" ".join([kind, str(at), *ngrams]) for (at, kind), ngrams in sorted(lines.items())]
    Path(recipe.__file__).with_name("common.txt").write_text(
        "\n".join([*written, ""]), encoding="utf-8"
    )


def _shares(texts: list[str]) -> dict[tuple[str, str], float]:
    # In which share of the pieces each n-gram is.
    pieces = _pieces(texts)
    counts = Counter(each for piece in pieces for each in _ngrams(piece))
    return {each: count / len(pieces) for each, count in counts.items()}


def _ngrams(text: str) -> set[tuple[str, str]]:
    text = normalize("NFKC", text).casefold()
    words = re.findall(r"\w+", text)
    padded = [f" {token} " for token in text.split()]
    runs = {each[i : i + n] for each in padded for n in LENGTHS for i in range(len(each) - n + 1)}
    pairs = {f"{a} {b}" for a, b in pairwise(words)}
    return {("word", each) for each in pairs.union(words)} | {("run", each) for each in runs}


def _pieces(texts: list[str]) -> list[str]:
    # As many as there are, at equal distances; a piece ends after a word.
    whole = re.sub(r"\s+", " ", " ".join(texts))
    found = re.findall(rf".{{1,{CHARACTERS}}}(?:\s|$)", whole)
    return found[:: max(1, len(found) // PIECES)][:PIECES]


def _definitions(folder: Path) -> list[str]:
    files = sorted((folder / "wordnet/usr/share/wordnet").glob("data.*"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [line.partition("|")[2].strip() for line in lines if "|" in line]


def _novel(folder: Path) -> list[str]:
    files = sorted((folder / "datasets-moby-dick/package/data").glob("*.txt"))
    return [file.read_text(encoding="utf-8") for file in files]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python -m benchmarks.ngrams FOLDER")
    main(Path(sys.argv[1]))
