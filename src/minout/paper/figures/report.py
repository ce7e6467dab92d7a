"""All pictures and claims on one page that needs nothing else."""

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from minout.paper.figures.reproduce import Reproduced
from minout.store import atomic_write

VERDICTS = {True: "holds", False: "does not hold", None: "see text"}


def write_report(reproduced: Sequence[Reproduced], path: Path) -> None:
    """Write one HTML file with the table of claims first and the pictures below it."""
    first = reproduced[0].rows[0]
    page = _PAGE.format(
        version=escape(first.version),
        commit=escape(first.commit),
        claims="\n".join(_claims(each) for each in reproduced),
        pictures="\n".join(_picture(each) for each in reproduced),
    )
    atomic_write(path, page.encode(), "The report")


def _claims(each: Reproduced) -> str:
    return "\n".join(
        f'<tr><td><a href="#{each.name}">{each.name}</a></td><td>{escape(claim.paper)}</td>'
        f"<td>{escape(claim.measured)}</td>"
        f'<td class="{_class(claim.holds)}">{VERDICTS[claim.holds]}</td></tr>'
        for claim in each.claims
    )


def _class(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: "open"}[holds]


def _picture(each: Reproduced) -> str:
    png = next(path for path in each.pictures if path.suffix == ".png")
    image = base64.b64encode(png.read_bytes()).decode()
    seeds = len({row.seed for row in each.rows})
    return (
        f'<figure id="{each.name}"><h2>{each.name}</h2>'
        f'<img alt="{escape(each.about)}" src="data:image/png;base64,{image}">'
        f"<figcaption>{escape(each.about)} {len(each.rows)} runs, {seeds} "
        f"seed{'s' * (seeds > 1)}, {each.seconds:.0f} s.</figcaption></figure>"
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conditional Computation for Continual Learning, reproduced</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; line-height: 1.25; }} h2 {{ font-size: 1.1rem; margin: 0 0 .5rem; }}
table {{ border-collapse: collapse; width: 100%; font-size: .9rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .4rem .6rem;
         border-bottom: 1px solid #ddd; }}
.yes {{ color: #00684a; white-space: nowrap; }} .no {{ color: #a33b00; white-space: nowrap; }}
.open {{ color: #666; white-space: nowrap; }}
figure {{ margin: 2.5rem 0; }} img {{ max-width: 100%; }}
figcaption {{ color: #555; font-size: .9rem; }}
</style></head><body>
<h1>Conditional Computation for Continual Learning, reproduced</h1>
<p>Made with minout {version} (commit {commit}). Numbers are mean ± standard deviation over the
seeds; bands in the pictures reach every seed.</p>
<table><thead><tr><th></th><th>the paper says</th><th>we measured</th><th></th></tr></thead>
<tbody>
{claims}
</tbody></table>
{pictures}
</body></html>
"""
