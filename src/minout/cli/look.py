"""`minout suspects`, `minout audit` and `minout info`: looks at a model."""

from collections import Counter
from math import isfinite
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.asking import load, loaded
from minout.cli.remembered import remembered
from minout.cli.say import command, say_facts, say_json, say_table
from minout.store import ModelFolder
from minout.streams.files import listed

_SWITCHES = ("standardize", "whiten", "lda_prior")


@command
def suspects(
    model: options.Model,
    count: Annotated[int, typer.Option("-n", "--count", min=0, help="How many.")] = 10,
    as_json: options.Json = False,
) -> None:
    """Lists the stored examples that the others speak against most: likely wrong labels.

    A margin says how far an example is on its own side of a separator, the straight cut between
    two labels. slack adds up how far its margins fall short of 1, and instead is the label that the
    others would give. Clean data fills the list too, with the examples that are nearest to another
    label: a slack below 1 is seldom a wrong label, from 1 on it is worth a look. With many labels
    more adds up; begin with those that stand out.

    Example: minout suspects wines -n 10
    """
    found = loaded(model).suspects(count)
    if as_json:
        for each in found:
            say_json(each._asdict())
        return
    say_table(["id", "label", "slack", "instead"], [list(each) for each in found])


@command
def audit(model: options.Model, as_json: options.Json = False) -> None:
    """Computes every margin of every stored example again, plainly, and compares.

    A margin says how far an example is on its own side of a separator: 0 or less is the wrong side.

    Exit code 1 if anything does not agree; a sentence each says what.

    Example: minout audit wines && echo fine
    """
    found = loaded(model).audit()
    if as_json:
        say_json({"ok": found.ok, **found._asdict()})
    else:
        say_facts(
            {
                "examples": found.examples,
                "margins computed": found.margins,
                "least above 0": found.least_margin if isfinite(found.least_margin) else "none",
                "misfits": len(found.misfits),
                "too close to tell": found.too_close,
                "verdict": "everything agrees" if found.ok else "something does not agree",
            }
        )
        for complaint in found.complaints:
            print(complaint)
    if not found.ok:
        raise typer.Exit(1)


@command
def info(model: options.Model, as_json: options.Json = False) -> None:
    """Tells what a model holds: examples, classes, columns, what was chosen, misfits.

    Misfits are examples on the wrong side of a separator, the straight cut between two labels. C is
    the inverse strength of the regularisation: a high one fits single examples more closely. It is
    chosen from the examples, as are standardize, whiten and lda_prior.

    Example: minout info wines
    """
    with ModelFolder(model, shared=True) as folder:
        size = folder.file.stat().st_size
        learner = load(folder.file)
    known = remembered(learner)
    counts = Counter(learner.example(each)[1] for each in learner.ids)
    misfits = learner.misfits if len(learner) else []
    choice = learner.choice if len(learner) else None
    if as_json:
        say_json(
            {
                "examples": len(learner),
                "classes": {each: counts[each] for each in learner.classes.tolist()},
                "misfits": misfits,
                "features": learner.features.fingerprint,
                "label": known.label,
                "id": known.id,
                "columns": known.columns,
                "image_shape": known.image_shape,
                "chosen": None if choice is None else choice._asdict(),
                "bytes": size,
            }
        )
        return
    classes = [f"{each} ({counts[each]:,})" for each in learner.classes.tolist()]
    columns = "without names" if known.columns is None else listed(known.columns)
    chosen = [] if choice is None else [n for n in _SWITCHES if getattr(choice, n)]
    say_facts(
        {
            "examples": len(learner),
            "classes": listed(classes) or "none",
            "misfits": len(misfits),
            "label column": known.label or "none",
            "id column": known.id or "none",
            "columns": columns,
            "feature map": learner.features.fingerprint,
            "chosen": ", ".join(chosen) or "plain",
            "C": "none" if choice is None else choice.C,
            "bytes": size,
        }
    )
