"""README and docs: commands and code work, what is shown is printed, links lead somewhere.

To renew what a page shows after its commands:
`.venv/bin/python tests/docs/page.py docs/NAME.md`.
"""

import re
from pathlib import Path

import pytest

from docs.page import blocks, is_as_shown, renewed, run

ROOT = Path(__file__).parents[2]
PAGES = {
    str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
TO_RUN = [name for name, page in PAGES.items() if blocks(page)]


@pytest.mark.parametrize("name", TO_RUN)
def test_commands_and_code_work_and_print_what_the_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    off, said = [], 0
    for block, printed in run(PAGES[name]):
        said += bool(printed) and block.language == "sh"
        failed = re.search("^(error:|Usage:)", printed, re.M) and not block.shown
        failed = failed or (block.is_examples and printed)
        if failed or (block.shown and not is_as_shown(block.shown, printed)):
            off.append(f"line {block.line}: the page shows\n{block.shown}but prints:\n{printed}")
    assert not off, "\n".join(off)
    assert said or name != "README.md"


def anchors(page):
    """Return the names under which headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S), re.M)
    words = [re.sub(r"[^\w\- ]", "", each.lower()) for each in headings]
    return {each.strip().replace(" ", "-") for each in words}


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_lead_somewhere(name):
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", PAGES[name])):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = ((ROOT / name).parent / file).resolve() if file else ROOT / name
        if not path.exists():
            lost.append(target)
        elif anchor and path.suffix == ".md":
            page = PAGES.get(str(path.relative_to(ROOT))) or path.read_text(encoding="utf-8")
            lost += [target] if anchor not in anchors(page) else []
    assert lost == []


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


def test_blocks_are_run_in_order_and_share_their_names():
    page = SHORT + "\n```python\nprint(x + 1)\n```\n"
    assert [printed for _, printed in run(page)] == ["1 2\n", "3\n", "4\n"]
    assert [block.line for block in blocks(page)] == [3, 13, 18]


def test_an_example_that_prints_something_else_is_reported():
    page = "```python\n>>> x = 3\n>>> x\n4\n```\n\n```python\n>>> x + 1\n4\n\n```\n"
    (_, wrong), (_, right) = run(page)
    assert "Expected:\n    4\nGot:\n    3\n" in wrong
    assert right == ""


def test_a_page_is_renewed_where_it_is_wrong_and_nowhere_else():
    page = renewed(SHORT, ["1 2\n", "0.123456789012\n"])
    assert page == SHORT + "\n```text\n0.1234…\n```\n"
    assert is_as_shown("0.12…, x\n", "0.1234, x\n")
    assert not is_as_shown("0.12…, x\n", "0.1334, x\n")
    assert not is_as_shown("a\n", "a\nb\n")
