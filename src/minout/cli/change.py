"""`minout correct` and `minout forget`: what was taught is changed or taken back."""

from pathlib import Path
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.remembered import id_for, kind_of_labels, label_as
from minout.cli.say import command, say_facts, say_json
from minout.learner import Certificate, Learner
from minout.store import ModelFolder


@command
def correct(
    model: options.Model,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a stored example.")],
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The label that is right.")],
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Gives a stored example another label.

    Example: minout correct wines bottle-17 barolo
    """
    with ModelFolder(model) as folder:
        learner = Learner.load(folder.file)
        right = label_as(kind_of_labels(learner), label)
        certificate = learner.correct(id_for(learner, id), right).certificate
        assert certificate is not None
        _save(learner, folder.file, consolidate)
    _say(learner, certificate, as_json)


@command
def forget(
    model: options.Model,
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of stored examples.")],
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Takes stored examples out; consolidated, the model is as if it had never seen them.

    Example: minout forget wines bottle-17 bottle-18
    """
    with ModelFolder(model) as folder:
        learner = Learner.load(folder.file)
        certificate = learner.forget([id_for(learner, each) for each in ids])
        _save(learner, folder.file, consolidate)
    _say(learner, certificate, as_json)


def _save(learner: Learner, file: Path, consolidate: bool) -> None:
    if consolidate and len(learner):
        learner.consolidate()
    learner.save(file)


def _say(learner: Learner, certificate: Certificate, as_json: bool) -> None:
    exceptions = learner.exceptions if len(learner) else []
    if as_json:
        say_json({**certificate._asdict(), "examples": len(learner), "all_exceptions": exceptions})
        return
    say_facts(
        {
            "separators moved": len(certificate.moved),
            "examples checked": certificate.checked,
            "became exceptions": _listed(certificate.exceptions),
            "are none any more": _listed(certificate.cleared),
            "exceptions in all": len(exceptions),
            "examples": len(learner),
        }
    )


def _listed(ids: tuple[int | str, ...]) -> str:
    return ", ".join(map(str, ids)) or "none"
