"""The docstrings of the main classes: numpydoc sections that agree with the signatures."""

import inspect
import re

import pytest

import minout
from minout import paper
from minout.features import FeatureMap

CLASSES = [
    minout.Learner,
    minout.MinoutClassifier,
    minout.Encoder,
    minout.Identity,
    minout.Scattering,
    FeatureMap,
    paper.PaperLearner,
]
DIALECT = re.compile(r"(Is|Are|Says|Gives|Lists|Tells|Takes|Makes|Puts|Holds|Returns|Adds)\b")


def sections(docstring):
    """The text of each numpydoc section by its title; "" is what comes before the first."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(docstring), flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def documented(text):
    """The names that a section of parameters describes."""
    heads = re.findall(r"^(\S[^:\n]*?)(?: :.*)?$", text, flags=re.M)
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def parameters(function):
    named = inspect.signature(function).parameters
    return [name for name in named if name not in ("self", "cls")]


def methods(cls):
    for name, each in vars(cls).items():
        function = each.__func__ if isinstance(each, classmethod | staticmethod) else each
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def faults(function):
    docstring = inspect.getdoc(function)
    if not docstring:
        return ["has no docstring"]
    found, parts = [], sections(docstring)
    first = parts[""].splitlines()[0]
    if not first.endswith("."):
        found.append("does not begin with one sentence on one line")
    if DIALECT.match(first):
        found.append(f"begins with {first.split()[0]}, not with an imperative")
    if documented(parts.get("Parameters", "")) != parameters(function):
        found.append(f"documents {documented(parts.get('Parameters', ''))}")
    returned = inspect.signature(function).return_annotation
    if returned not in (None, "None") and not {"Returns", "Yields"} & set(parts):
        found.append("does not document what it returns")
    return found


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__qualname__)
def test_the_methods_of_public_classes_are_documented(cls):
    found = {name: each for name, method in methods(cls) if (each := faults(method))}
    assert found == {}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__qualname__)
def test_public_classes_are_documented(cls):
    parts = sections(inspect.getdoc(cls))
    assert not DIALECT.match(parts[""])
    is_record = issubclass(cls, tuple) or getattr(cls, "_is_protocol", False)
    if not is_record and parameters(cls):
        assert documented(parts.get("Parameters", "")) == parameters(cls)
