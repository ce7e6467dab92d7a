"""`minout correct`, `minout forget` and `minout consolidate`: change a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from minout._typing import Id
from minout.cli import options
from minout.cli.asking import load
from minout.cli.bar import Bar
from minout.cli.remembered import id_for, kind_of_labels, label_as
from minout.cli.say import command, say_aside, say_facts, say_json
from minout.cli.stop import Stop
from minout.engine import Certificate
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.store import ModelFolder
from minout.streams.files import is_unicode


@command
def correct(
    model: options.Model,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a stored example.")],
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The label that is right.")],
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Gives a stored example another label.

    A file in which it has the old one can be learned again; that changes nothing.

    Example: minout correct wines bottle-17 barolo
    """
    if not is_unicode(label):
        raise InvalidInputError(f"The label {label!r} is not UTF-8; spell it otherwise.")
    with ModelFolder(model) as folder:
        learner = load(folder.file)
        before = learner.misfits
        stored = id_for(learner, id)
        old, new = learner.example(stored)[1], label_as(kind_of_labels(learner), label)
        is_new = new not in learner.classes.tolist()
        certificate = learner.correct(stored, new).certificate
        if new != old:
            _save(learner, folder.file, consolidate)
    if as_json:
        told = {"from": old, "to": new, "is_new_label": is_new, "changed": new != old}
    else:
        remark = " (nothing changed)" if new == old else " (new label)" if is_new else ""
        told = {"label": f"{old} → {new}{remark}"}
    _say(learner, certificate, before, as_json, told)


@command
def forget(
    model: options.Model,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Ids of stored examples.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--class", help="A label: all its examples, and the label.")
    ] = None,
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Takes stored examples out; consolidated, the model is as if it had never seen them.

    It does not remember what it forgot: take it out of your files as well, or it comes back when
    one that holds it is learned again.

    Example: minout forget wines bottle-17 bottle-18, or minout forget wines --class barolo
    """
    if bool(ids) == (label is not None):
        raise typer.BadParameter("Name the ids to forget, or one label with --class.")
    with ModelFolder(model) as folder:
        learner = load(folder.file)
        before = learner.misfits
        if label is None:
            certificate = learner.forget([id_for(learner, each) for each in ids or []])
        else:
            forgotten = label_as(kind_of_labels(learner), label)
            certificate = learner.forget_class(forgotten)
        _save(learner, folder.file, consolidate)
    _say(learner, certificate, before, as_json, {})


@command
def consolidate(model: options.Model, as_json: options.Json = False) -> None:
    """Makes a model anew from its stored examples alone.

    Afterwards it does not depend on the order in which they came, nor on what was forgotten. The
    other commands do this by themselves, unless they were given --no-consolidate or stopped.
    Ctrl-C leaves the model as it was.

    Example: minout consolidate wines
    """
    with ModelFolder(model) as folder:
        learner = load(folder.file)
        before = learner.misfits if len(learner) else []
        if not len(learner):
            raise InvalidInputError("This model holds no examples; teach it some first.")
        with Stop() as stop:
            try:
                with Bar("consolidating"), stop.interruptible():
                    done = learner.consolidate()
            except KeyboardInterrupt:
                say_aside("Stopped; the model is as it was.")
                raise typer.Exit(stop.exit_code) from None
            learner.save(folder.file)
    told = {"seconds": done.refresh.seconds, "chosen": done.refresh.choice._asdict()}
    _say(learner, done.certificate, before, as_json, told if as_json else {})


def _save(learner: Learner, file: Path, consolidate: bool) -> None:
    if consolidate and len(learner):
        learner.consolidate()
    learner.save(file)


def _say(
    learner: Learner,
    certificate: Certificate,
    before: list[Id],
    as_json: bool,
    told: Mapping[str, object],
) -> None:
    # Misfits are told as of now, after consolidating.
    now = learner.misfits if len(learner) else []
    appeared = [each for each in now if each not in before]
    cleared = [each for each in before if each not in now]
    if as_json:
        changed = {"misfits": appeared, "cleared": cleared, "all_misfits": now}
        say_json({**told, **certificate._asdict(), **changed, "examples": len(learner)})
        return
    say_facts(
        {
            **told,
            "separators moved": len(certificate.moved),
            "margins checked": certificate.checked,
            "became misfits": _listed(appeared),
            "no longer misfits": _listed(cleared),
            "misfits in all": len(now),
            "examples": len(learner),
        }
    )


def _listed(ids: list[Id]) -> str:
    return ", ".join(map(str, ids)) or "none"
