"""What the pages point at is there: files, headings and make targets; and two pages promise the same."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES_OF_PROMISES = ROOT / "README.md", ROOT / "docs" / "guarantees.md"
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        path, _, anchor = link.partition("#")
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), link
        assert not anchor or anchor in headings(to), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets(page: Path) -> None:
    said = re.findall(r"(?:^|`|\$\()make ([a-z-]+)", page.read_text(), re.MULTILINE)
    assert set(said) <= TARGETS


def promises(page: Path) -> list[str]:
    """Return the promises of a page's table."""
    table = page.read_text().partition("| promise |")[2].partition("\n\n")[0]
    return re.findall(r"^\| \**([^|*]+?)\** \|", table, re.MULTILINE)


def test_promises() -> None:
    first, second = map(promises, PAGES_OF_PROMISES)
    assert first == second
    assert len(first) == 8
