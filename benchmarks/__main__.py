"""Run the benchmarks: `python -m benchmarks` in the root of the repository."""

from benchmarks.commands import main

if __name__ == "__main__":
    main()
