"""A deployment is made anew when what it is made from has changed, and only then."""

from pathlib import Path

import pytest
from local import sam


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("template.yaml", "functions/api.py", "shared/onthedot/clock.py", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(sam, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "changed", ["template.yaml", "functions/api.py", "shared/onthedot/clock.py", "functions/new.py"]
)
def test_a_change_of_what_is_deployed_is_seen(tree: Path, changed: str) -> None:
    before = sam.digest({})
    (tree / changed).write_text("other")
    assert sam.digest({}) != before


def test_another_parameter_is_seen() -> None:
    assert sam.digest({"Shards": "2"}) != sam.digest({"Shards": "4"})


def test_a_renamed_file_is_seen(tree: Path) -> None:
    before = sam.digest({})
    (tree / "functions/api.py").rename(tree / "functions/apis.py")
    assert sam.digest({}) != before


def test_what_is_not_deployed_does_not_count(tree: Path) -> None:
    before = sam.digest({})
    (tree / "README.md").write_text("other")
    (tree / "functions/__pycache__").mkdir()
    (tree / "functions/__pycache__/api.pyc").write_text("compiled")
    assert sam.digest({}) == before
