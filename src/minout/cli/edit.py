"""`minout correct`, `minout forget` and `minout consolidate`: edit a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from minout._typing import Id
from minout.cli import options
from minout.cli.drift_note import NOTES as DRIFT
from minout.cli.file_notes import convert_label, label_type, require_id
from minout.cli.output import command, print_facts, print_json, print_note
from minout.cli.progress import ProgressBar
from minout.cli.queries import open_model
from minout.cli.stop import Stop
from minout.cli.waiting import Waiting
from minout.engine import Certificate
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.store import prepare_folder
from minout.streams.files import is_utf8


@command
def correct(
    model: options.Model,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a stored example.")],
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The right label.")],
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Change the label of a stored example.

    If you learn a file again that still has the old label, nothing changes.

    Example: minout correct wines bottle-17 barolo
    """
    if not is_utf8(label):
        raise InvalidInputError(f"The label {label!r} is not UTF-8; give it as UTF-8.")
    with _open(model) as learner, learner.turn():
        before = learner.misfits
        stored = require_id(learner, id)
        old, new = learner.example(stored)[1], convert_label(label_type(learner), label)
        is_new = new not in learner.classes.tolist()
        certificate = learner.correct(stored, new).certificate
        if new != old and consolidate and len(learner):
            learner.consolidate()
    if as_json:
        facts = {"from": old, "to": new, "is_new_label": is_new, "changed": new != old}
    else:
        remark = " (nothing changed)" if new == old else " (new label)" if is_new else ""
        facts = {"label": f"{old} → {new}{remark}"}
        if certificate.forgotten:
            facts["fell out of the window"] = ", ".join(map(str, certificate.forgotten))
    _report(learner, certificate, before, as_json, facts)


@command
def forget(
    model: options.Model,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Ids of stored examples.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--class", help="Forget this label and all its examples.")
    ] = None,
    log_ids: Annotated[
        bool, typer.Option("--log-ids", help="Keep these ids in `minout log`.")
    ] = False,
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Remove stored examples; the consolidated model equals one that was never taught them.

    No list of forgotten examples is kept: remove them from your files as well, or they are taught
    again with the next `minout learn` of such a file.

    Example: minout forget wines bottle-17 bottle-18, or minout forget wines --class barolo
    """
    if bool(ids) == (label is not None):
        raise typer.BadParameter("Name the ids to forget, or one label with --class.")
    with _open(model) as learner, learner.turn():
        before, labels = learner.misfits, len(learner.classes)
        if label is None:
            named = [require_id(learner, each) for each in ids or []]
            certificate = learner.forget(named, log_ids=log_ids)
        else:
            forgotten = convert_label(label_type(learner), label)
            certificate = learner.forget_class(forgotten)
        if len(learner.classes) < labels:
            learner.notes.pop(DRIFT, None)  # the drift monitor names the labels that it counts
        if consolidate and len(learner):
            learner.consolidate()
    _report(learner, certificate, before, as_json, {})


@command
def consolidate(model: options.Model, as_json: options.Json = False) -> None:
    """Compute a model again from its set of stored examples.

    The result does not depend on their order, nor on forgotten examples. `learn`, `correct` and
    `forget` consolidate at the end, unless they are stopped or run with --no-consolidate. Ctrl-C
    leaves the model as it was.

    Example: minout consolidate wines
    """
    with _open(model) as learner, Stop() as stop:
        try:
            with stop.interruptible(), learner.turn():
                before = learner.misfits
                if not len(learner):
                    raise InvalidInputError("This model has no examples; teach it some first.")
                with ProgressBar("consolidating"):
                    done = learner.consolidate()
        except KeyboardInterrupt:
            print_note("Stopped; the model is as it was.")
            raise typer.Exit(stop.exit_code) from None
    facts = {"seconds": done.refresh.seconds, "chosen": done.refresh.choice._asdict()}
    _report(learner, done.certificate, before, as_json, facts if as_json else {})


def _open(model: Path) -> Learner:
    """Open a model to change it; there must be one."""
    prepare_folder(model, create=False)
    return open_model(model, on_wait=Waiting(model))


def _report(
    learner: Learner,
    certificate: Certificate,
    before: list[Id],
    as_json: bool,
    facts: Mapping[str, object],
) -> None:
    # The misfits after consolidating.
    now = learner.misfits
    stored = set(learner.ids)
    appeared = [each for each in now if each not in before]
    cleared = [each for each in before if each not in now and each in stored]
    if as_json:
        changed = {"misfits": appeared, "cleared": cleared, "all_misfits": now}
        print_json({**facts, **certificate._asdict(), **changed, "examples": len(learner)})
        return
    print_facts(
        {
            **facts,
            "separators moved": len(certificate.moved),
            "margins checked": certificate.checked,
            "became misfits": _joined(appeared),
            "no longer misfits": _joined(cleared),
            "misfits in all": len(now),
            "examples": len(learner),
        }
    )


def _joined(ids: list[Id]) -> str:
    return ", ".join(map(str, ids)) or "none"
