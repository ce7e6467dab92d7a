"""What the tests of readers share."""

import pytest

from minout.errors import MinoutError
from minout.files import read


@pytest.fixture
def written(tmp_path):
    """Write a file and return its path."""

    def write(name: str, content: bytes | str):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


@pytest.fixture
def rows():
    """Read a whole file: a list of (row, label, id, line); raise what ends it."""

    def everything(source, **asked):
        found = []
        with read(source, **asked) as reader:
            for batch in reader:
                found += zip(*batch[:4], strict=True)
                if batch.error is not None:
                    raise batch.error
        return found

    return everything


@pytest.fixture
def refusal(rows):
    """Return the sentence with which a file is refused."""

    def refused(source, **asked) -> str:
        with pytest.raises(MinoutError) as caught:
            rows(source, **asked)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return refused
