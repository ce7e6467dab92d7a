"""The arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The folder of the model.", show_default=False)
]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV with a header (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson) or an array of "
        "objects (.json), all also compressed (.gz, .bz2, .xz, .zst), Parquet, NPZ (arrays X, y, "
        "ids), images as FOLDER/class/image.png, one image, or - for JSON lines on standard input.",
        show_default=False,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label", metavar="COLUMN", help="The column of the labels; the model remembers it."
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of the ids; the model remembers it."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="A column to leave out; may be repeated."),
]
Function = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="FUNCTION",
        help="The function that the model was taught with, package.module:function, if it is your "
        "own; minout does not import it by itself.",
    ),
]
FromLine = Annotated[
    int, typer.Option("--from-line", min=1, help="Start at this line (or row, or image).")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of a CSV or JSON lines file, such as cp1252; by default UTF-8.",
        show_default=False,
    ),
]
SkipBad = Annotated[
    Path | None,
    typer.Option(
        "--skip-bad",
        metavar="FILE",
        help="Skip rows that cannot be used, and write them to this CSV with their line and the "
        "reason.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]
Consolidate = Annotated[
    bool,
    typer.Option(
        help="Solve the model again at the end, so that it depends on the stored examples alone, "
        "not on their order; without it the command is quicker, and `minout consolidate` can do "
        "it later."
    ),
]
