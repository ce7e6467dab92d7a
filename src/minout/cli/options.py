"""The arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model's folder.", show_default=False)
]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV with a header (.csv, .tsv, .txt), Parquet, NPZ (arrays X, y, ids), JSON lines "
        "(.jsonl, .ndjson), images as FOLDER/class/image.png, or - for JSON lines on standard "
        "input.",
        show_default=False,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="The label's column; a model remembers it."),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of your ids; a model remembers it."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="A column to leave out; may be repeated."),
]
FromLine = Annotated[
    int, typer.Option("--from-line", min=1, help="Pass over what stands before this line.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, an object per line.")]
Consolidate = Annotated[
    bool,
    typer.Option(
        help="Make the model anew at the end, so that order and history leave no trace; "
        "without it this call is quicker, and a later one can do it."
    ),
]
