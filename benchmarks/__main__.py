"""The command: `python -m benchmarks NAME [--data FOLDER] [--small] [--seed N]`."""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import Options, print_tables

NAMES = (
    *("stream", "exact", "tables", "messy", "text", "few", "many", "overlap"),
    *(
        "labels",
        "expected",
        "probabilities",
        "real",
        "drift",
        "window",
        "memory",
        "core",
        "small",
        "store",
        "commands",
        "cluster",
        "paper",
    ),
)


def main(words: list[str] | None = None) -> None:
    """List the benchmarks, or run those that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="one or more; none lists them")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="MNIST's IDX files, or what benchmarks.fetch fetched: see benchmarks/README.md",
    )
    parser.add_argument("--small", action="store_true", help="a few seconds, to see that it runs")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"There is no benchmark {unknown[0]}; there are {', '.join(NAMES)}.")
    if given.data is not None and not given.data.is_dir():
        parser.error(f"There is no folder {given.data}.")
    for name in given.names:
        print_tables(name, module_of(name).run, Options(given.data, given.small, given.seed))
    if not given.names:
        for name in NAMES:
            print(f"{name:15}{(module_of(name).__doc__ or '').splitlines()[0]}")


def module_of(name: str):
    """Import a benchmark; its `run` takes `Options` and yields tables."""
    return import_module(f"benchmarks.{name}")


if __name__ == "__main__":
    main()
