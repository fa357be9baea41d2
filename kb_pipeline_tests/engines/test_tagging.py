"""Categories by closeness and keywords, tags by vocabulary first."""

from collections.abc import Sequence

import numpy as np
import pytest

from kb_pipeline.engines.extractive.tagging import tag_items
from kb_pipeline.records import UNCLASSIFIED, Category, Tagging, Taxonomy
from kb_pipeline.services.embedder import open_embedder
from kb_pipeline.world import Vectors
from kb_pipeline_tests.engines.contract import TAXONOMY, item


class Compass:
    """An embedder of three directions: a text points where its first word says."""

    name, dim, computed, seconds = "compass", 3, 0, 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """East, north or up; anything else points between east and north."""
        known = {"east": (1, 0, 0), "north": (0, 1, 0), "up": (0, 0, 1)}
        found = np.array([known.get(t.split()[0].strip(",").lower(), (0.72, 0.694, 0)) for t in texts], np.float32)
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    def key(self, text: str) -> bytes:
        """Not asked for."""
        raise NotImplementedError

    def recall(self, keys: Sequence[bytes]) -> tuple[Vectors, np.typing.NDArray[np.bool_]]:
        """Not asked for."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to free."""


COMPASS = Taxonomy(
    categories=(
        Category(name="East", description="east", keywords=("east", "sunrise")),
        Category(name="North", description="north", keywords=("north", "pole star")),
    ),
    tags={"star": (), "compass": ()},
)


def tagging(statement: str, **fields: object) -> Tagging:
    """The tagging of one statement under the compass."""
    return next(tag_items([item(statement, **fields)], COMPASS, Compass(), margin=0.03))


def test_chooses_the_closest() -> None:
    """The closest category is the primary one."""
    assert tagging("East is where it is.").primary_category == "East"


def test_says_why_none_fits() -> None:
    """Far from all, or between two, an item is unclassified and the note says which."""
    far, between = tagging("Up there it is cold."), tagging("Somewhere it is cold.")
    assert (far.primary_category, between.primary_category) == (UNCLASSIFIED, UNCLASSIFIED)
    assert "No category is close" in str(far.note)
    assert "Between East and North" in str(between.note)


def test_keywords_decide_between_two() -> None:
    """A keyword tips the balance, and the category left close behind is a secondary one."""
    found = tagging("Somewhere the pole stars stand still.")
    assert (found.primary_category, found.secondary_categories) == ("North", ("East",))


def test_tags_prefer_the_vocabulary() -> None:
    """Known tags come first, names of the item next as candidates; what a known tag covers is not repeated."""
    found = tagging("East of the Star Gate a compass turns.", entities=("Star Gate", "Compass", "NASA"))
    assert found.tags == ("star", "compass", "nasa")
    assert found.candidates == ("nasa",)


def test_tags_need_no_vocabulary() -> None:
    """Without vocabulary and names, phrases of the statement serve."""
    bare = Taxonomy(categories=COMPASS.categories)
    (found,) = tag_items([item("East winds carry warm air masses over the ridge.")], bare, Compass(), margin=0.05)
    assert found.tags == ("air-mass", "ridge")


@pytest.mark.parametrize("name", ["--max-num-seqs", "Jonas Lindqvist"])
def test_names_keep_their_plural(name: str) -> None:
    """A flag or a person's name is not made singular."""
    assert any(tag.endswith("s") or tag == "jonas-lindqvist" for tag in tagging("East.", entities=(name,)).tags)


def test_never_more_than_six_tags() -> None:
    """Six tags at most, however many of the vocabulary occur."""
    many = Taxonomy(categories=TAXONOMY.categories, tags={f"tag{n}": () for n in range(9)})
    statement = " ".join(f"tag{n}" for n in range(9))
    (found,) = tag_items([item(statement)], many, open_embedder("hashing"), margin=0.02)
    assert len(found.tags) == 6
