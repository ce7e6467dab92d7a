"""The picture of regions is drawn, and the page about it tells what it shows."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_picture_of_regions_shows_what_the_page_says(tmp_path):
    spec = importlib.util.spec_from_file_location("make_pictures", DOCS / "make_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    moved, at_risk, changed = module.main(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["regions.png"]
    assert (tmp_path / "regions.png").read_bytes().startswith(b"\x89PNG")
    # "one of the 27 separators moves", "all examples of these two regions, and four", "three do"
    assert (moved, at_risk, changed) == (1, 22 + 22 + 4, 3)
