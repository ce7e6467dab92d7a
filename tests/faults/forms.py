"""The two forms in which a model is stored: one file, and a folder with a database."""

import shutil
import tempfile
from pathlib import Path

from minout import Learner
from minout.errors import InvalidInputError, MissingDataError, UnwritableError
from minout.store import read_archive, write_archive
from minout.upkeep import backup, check, read_log, repair

from . import damage, database_content, forge, forge_archive, forge_database
from .trial import Form

OPENED = ".opened-"
"""What the names of folders in which a copy was opened contain."""
EARLIER = ".earlier-"
LAST = 4


def _store_file(learner, path, rows):
    learner.save(path)


def _store_folder(learner, path, rows):
    # Leave the files as a killed process does: with a write-ahead log, and beside them the folders
    # of earlier states. The last change of an earlier state may be in the file or in its log.
    work = path.with_name(f"{path.name}.work")
    label = learner.classes.tolist()[0]
    learner.store_in(work, durability="example")
    for number in range(LAST):
        shutil.copytree(work, path.with_name(f"{path.name}{EARLIER}{number}"))
        if number == LAST - 1:
            learner.forget("z1")
        else:
            learner.teach(rows[number], label, id=f"z{number}", at=1_700_000_000.0)
        if number == 0:
            learner.close()
            learner = Learner.open(work, durability="example")
    shutil.copytree(work, path)
    learner.close()
    work.rename(_closed(path))


def _closed(path):
    # The folder of the same state after the model was closed: all is in the database.
    return path.with_name(f"{path.name}.closed")


def _damaged(source, target, rng):
    is_live = rng.random() < 0.5
    found = source if is_live else _closed(source)
    return damage.damage(found, target, rng, earlier_folders(source))


def earlier_folders(path):
    """Return the folders of earlier states of a stored model."""
    return sorted(path.parent.glob(f"{path.name}{EARLIER}[0-9]"))


def _opened(path, **settings):
    return Learner.open(_scratch(path), **settings)


def _scratch(path):
    # Opening changes the files, so that it is done with a copy.
    scratch = Path(tempfile.mkdtemp(prefix=f"{path.name}{OPENED}", dir=path.parent))
    for file in path.iterdir():
        shutil.copyfile(file, scratch / file.name)
    return scratch


def _read_only(path):
    learner = Learner.open(_scratch(path), read_only=True)
    learner.reload()
    learner.close()


def _compacted(path):
    with _opened(path) as learner:
        learner.compact()


def _backed_up(path):
    scratch = _scratch(path)
    backup(scratch, scratch / "backup")


UPKEEP = {
    "read": _read_only,
    "compact": _compacted,
    "log": lambda path: read_log(_scratch(path)),
    "check": lambda path: check(_scratch(path)),
    "backup": _backed_up,
    "repair": lambda path: repair(_scratch(path)),
}

ONE_FILE = Form(
    name="file",
    store=_store_file,
    read=lambda path: read_archive(path, "minout model", 2),
    write=lambda path, about, arrays: write_archive(path, about, arrays, "The model"),
    open=Learner.load,
    damage=damage.damage,
    forgeries=forge.KINDS,
    bombs=forge.BOMBS,
    containers=forge_archive.KINDS,
)
FOLDER = Form(
    name="folder",
    store=_store_folder,
    read=lambda path: database_content.read(_scratch(path)),
    write=database_content.write,
    open=lambda path: _opened(path, durability="example"),
    damage=_damaged,
    forgeries={name: kind for name, kind in forge.KINDS.items() if name != "extra"},
    bombs={"many_regions": forge.many_regions, **forge_database.BOMBS},
    containers=forge_database.KINDS,
    earlier=earlier_folders,
    upkeep=tuple(UPKEEP.items()),
    errors=(MissingDataError, InvalidInputError, UnwritableError),
)
FORMS = {form.name: form for form in (ONE_FILE, FOLDER)}


def remove(copy):
    """Delete a copy, and what opening it left."""
    for path in (copy.path, *copy.path.parent.glob(f"{copy.path.name}{OPENED}*")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
