"""The tutorial: every block is run, in order, and prints what the page shows.

To renew what the page shows: `.venv/bin/python tests/docs/page.py docs/tutorial.md`.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from docs.page import blocks, is_as_shown, prose, renewed, run
from minout.cli.app import OWN_FILES

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
PAGE = TUTORIAL.read_text(encoding="utf-8")
SHORT = """Say

```sh
echo 1 2
```

```text
1 2
```

and

```python
x = 3
print(x)
```
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """What the blocks print, and the folder that they leave behind."""
    folder = tmp_path_factory.mktemp("tutorial")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return list(run(PAGE)), folder


def test_every_block_prints_what_the_page_shows(session):
    off = [
        f"line {block.line}: the page shows\n{block.shown}but this is printed:\n{printed}"
        for block, printed in session[0]
        if not is_as_shown(block.shown, printed)
    ]
    assert not off, "\n".join(off)


def test_nothing_on_the_page_is_left_unrun():
    fences = re.findall(r"^```(\w*)$", PAGE, flags=re.M)
    opened = [language for language in fences if language]
    assert set(opened) == {"sh", "python", "text"}
    shown = sum(bool(block.shown) for block in blocks(PAGE))
    assert opened.count("text") == shown
    assert len(blocks(PAGE)) == len(opened) - shown


def test_the_page_uses_every_command_for_one_s_own_files():
    used = re.findall(r"^minout (\w+)", PAGE, flags=re.M)
    assert set(OWN_FILES) <= set(used)


def test_numbers_in_the_words_stand_in_a_block_too():
    said = re.findall(r"(?<![\w.#-])\d[\d,.]*\d|scan-\d+", prose(PAGE))
    in_blocks = "".join(block.code + block.shown for block in blocks(PAGE))
    by_chance = f"{20 * 20 / 1261:.1f}"
    assert "1,261" in in_blocks
    assert by_chance in said
    assert [each for each in said if each not in in_blocks and each != by_chance] == []


def test_links_and_pictures_lead_somewhere():
    targets = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert len(targets) >= 3
    assert [each for each in targets if not (TUTORIAL.parent / each).is_file()] == []


def test_the_picture_on_the_page_is_the_one_that_is_drawn(session):
    _, folder = session
    (name,) = re.findall(r"!\[.*?\]\((.+?)\)", PAGE)
    shown, drawn = (
        np.asarray(Image.open(file).convert("L"), dtype=float)
        for file in (TUTORIAL.parent / name, folder / Path(name).name)
    )
    assert shown.shape == drawn.shape
    assert np.abs(shown - drawn).mean() < 3.0  # letters may be drawn a little differently


def test_blocks_are_run_in_order_and_share_their_names():
    page = SHORT + "\n```python\nprint(x + 1)\n```\n"
    assert [printed for _, printed in run(page)] == ["1 2\n", "3\n", "4\n"]
    assert [block.line for block in blocks(page)] == [3, 13, 18]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 1\n", "a 1\n", True),
        ("a 1\n", "a 2\n", False),
        ("a 1\n", "a 1\nb\n", False),
        ("", "a\n", False),
        ("0.12…, x\n", "0.1234, x\n", True),
        ("0.12…, x\n", "0.1334, x\n", False),
        ("… per second\n", "5 per second\n", True),
        ("…\n", "1\n2\n", False),
    ],
)
def test_what_is_shown_is_compared_line_by_line(shown, printed, same):
    assert is_as_shown(shown, printed) is same


def test_a_page_is_renewed_where_it_is_wrong_and_nowhere_else():
    page = renewed(SHORT, ["1 2\n", "0.123456789012\n"])
    assert page == SHORT + "\n```text\n0.1234…\n```\n"
    again = renewed(page.replace("1 2\n```\n\nand", "1 …\n```\n\nand"), ["1 2\n", "5\n"])
    assert [block.shown for block in blocks(again)] == ["1 …\n", "5\n"]
    timed = renewed(SHORT, ["1 2\n", "bytes:   7,200\n34,567 per second\n"])
    assert blocks(timed)[1].shown == "bytes:   …\n… per second\n"


def test_a_command_that_is_refused_shows_its_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((_, printed),) = run("```sh\nminout info nowhere\n```\n")
    assert printed == "error: There is no model nowhere; `minout learn` creates one.\n"
