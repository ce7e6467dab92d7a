"""The arguments and options that several commands share; each means the same everywhere."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="The file of the model, such as wines.minout.", show_default=False
    ),
]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV with a header (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson) or an array of "
        "objects (.json), all also compressed (.gz, .bz2, .xz, .zst), Parquet, NPZ (arrays X, y, "
        "ids), images as FOLDER/class/image.png (links are followed), one image, or - for JSON "
        "lines or CSV on standard input.",
        show_default=False,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="The column of labels; the model remembers it."),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of ids; the model remembers it."),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="NAME",
        help="The feature map of a new model: scattering or scattering:32x32 (images, resized), "
        "projection (very many columns), text (one column of text), or package.module:function, a "
        "function of your own, which every command that maps rows needs.",
    ),
]
Encoding = Annotated[
    str,
    typer.Option("--encoding", metavar="NAME", help="The encoding of a text file, such as cp1252."),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar=".|,", help="The decimal mark; the model remembers it."),
]
SkipBad = Annotated[
    Path | None,
    typer.Option(
        "--skip-bad",
        metavar="FILE",
        help="Skip rows that cannot be used, and write them to this CSV with the reason.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, metavar="N", help="Work in so many processes.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]
Count = Annotated[int | None, typer.Option("-n", "--count", min=0, help="Show at most so many.")]
