"""A page of the docs as a session: its blocks are run in order, and it shows what they print.

`.venv/bin/python tests/docs/page.py docs/tutorial.md` runs a page and writes into it what was
printed, where that is not what the page shows. Look at the difference: the words around a block may
have to change with it.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from minout.cli import main

LEFT_OUT = "…"
"""Stands in the page for whatever is printed there: digits that nobody reads, times, sizes."""
_LEFT_OUT = {
    r"(\d\.\d{4})\d{5,}": rf"\1{LEFT_OUT}",
    r"[\d,]+ per second": f"{LEFT_OUT} per second",
    r"^((?:bytes|seconds): +)[\d.,e-]+": rf"\1{LEFT_OUT}",
}
"""What is left out of a page that is renewed."""
_BLOCK = re.compile(
    r"^```(sh|python)\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.M | re.S
)


class Block(NamedTuple):
    """A block to run, the output that the page shows, and where both stand in the page."""

    language: str
    code: str
    shown: str
    line: int
    end_of_code: int
    span_of_shown: tuple[int, int]

    @property
    def is_examples(self) -> bool:
        """Whether it is a Python session, which shows its output itself."""
        return ">>>" in self.code


def blocks(page: str) -> list[Block]:
    """List the blocks in ```sh and ```python, each with the ```text that follows it, if any."""
    return [
        Block(
            found[1],
            found["code"],
            found["shown"] or "",
            page.count("\n", 0, found.start()) + 1,
            found.end(),
            found.span("shown"),
        )
        for found in _BLOCK.finditer(page)
    ]


def run(page: str) -> Iterator[tuple[Block, str]]:
    """Run the blocks in the current folder, one after the other, and yield what each prints.

    Python blocks share their names, as in one session. Of examples (>>>) the differences that
    doctest reports are yielded. Of a shell block all lines are run if the page shows what blocks
    print, otherwise those that begin with `minout`, but not those that take minutes, and none of a
    block with a placeholder (MODEL, your-source) or a file to learn from or to predict that the
    page does not make.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    shows = any(block.shown for block in blocks(page) if block.language == "sh")
    for block in blocks(page):
        if block.language == "sh":
            commands = block.code.replace("\\\n", " ").splitlines()
            if not shows:
                commands = [] if _is_pattern(block.code) else list(filter(_is_run, commands))
            yield block, "".join(map(_in_shell, commands))
        elif block.is_examples:
            yield block, _differences(block, names)
        else:
            printed = io.StringIO()
            # The lines in front let a traceback name the line of the page.
            code = compile("\n" * block.line + block.code, "the page", "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, names)
            yield block, printed.getvalue()


def _differences(block: Block, names: dict[str, Any]) -> str:
    parsed = doctest.DocTestParser().get_doctest(block.code, names, "page", None, block.line)
    reported: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(
        parsed, out=reported.append, clear_globs=False
    )
    names.update(parsed.globs)
    return "".join(reported)


def _is_run(command: str) -> bool:
    return re.match(r"minout (?!demo|reproduce)", command) is not None


def _is_pattern(code: str) -> bool:
    files = re.findall(r"^minout (?:learn|predict|score) \S+ ([\w-]+\.\w+)", code, re.M)
    is_lacking = any(not Path(file).exists() for file in files)
    return is_lacking or re.search(r"\b[A-Z]{4,}\b|\byour-", code) is not None


def is_as_shown(shown: str, printed: str) -> bool:
    """Return whether every line is as the page shows it; `…` stands for anything in its line."""
    left, right = shown.splitlines(), printed.splitlines()
    return len(left) == len(right) and all(map(_is_same, left, right))


def renewed(page: str, printed: list[str]) -> str:
    """Put what the blocks printed into the page; lines that are still as shown stay."""
    for block, said in reversed(list(zip(blocks(page), printed, strict=True))):
        if block.is_examples or is_as_shown(block.shown, said):
            continue
        start, end = block.span_of_shown
        new = "".join(f"{line}\n" for line in _shortened(block.shown, said))
        if start < 0:
            start = end = block.end_of_code
            new = f"\n```text\n{new}```\n"
        page = page[:start] + new + page[end:]
    return page


def _shortened(shown: str, printed: str) -> Iterator[str]:
    known = shown.splitlines()
    for line in printed.splitlines():
        still = [each for each in known if _is_same(each, line)]
        short = line.rstrip()
        for pattern, instead in _LEFT_OUT.items():
            short = re.sub(pattern, instead, short)
        yield still[0] if still else short


def _is_same(shown: str, printed: str) -> bool:
    pattern = ".*".join(map(re.escape, shown.rstrip().split(LEFT_OUT)))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def _in_shell(command: str) -> str:
    """Return what a command prints, as on a terminal: what is wrong, too.

    `minout …` runs in this process, because starting it two dozen times takes a minute.
    """
    first, *rest = command.partition(" #")[0].split(" | ", 1)
    if not first.startswith("minout "):
        return _by_sh(command)
    printed, aside = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", shlex.split(first)),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(aside),
        contextlib.suppress(SystemExit),
    ):
        main()
    said = _by_sh(rest[0], printed.getvalue()) if rest else printed.getvalue()
    return aside.getvalue() + said


def _by_sh(command: str, input: str = "") -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        input=input,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        text=True,
        encoding="utf-8",
    )
    return done.stdout


def _renew(file: Path) -> None:
    page = file.read_text()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            printed = [said for _, said in run(page)]
            for name in re.findall(r"!\[.*?\]\((.+?)\)", page):
                (before / file.parent / name).write_bytes(Path(Path(name).name).read_bytes())
        finally:
            os.chdir(before)
    file.write_text(renewed(page, printed))


if __name__ == "__main__":
    _renew(Path(sys.argv[1]))
