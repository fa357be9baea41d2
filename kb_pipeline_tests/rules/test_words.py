"""The singular of a noun by its ending and the tables of what endings do not tell."""

import pytest

from kb_pipeline.rules.words import singular

PLURALS = {
    "tokens": "token",
    "queries": "query",
    "cookies": "cookie",
    "calories": "calorie",
    "caches": "cache",
    "batches": "batch",
    "headaches": "headache",
    "statuses": "status",
    "viruses": "virus",
    "houses": "house",
    "causes": "cause",
    "aliases": "alias",
    "biases": "bias",
    "databases": "database",
    "responses": "response",
    "classes": "class",
    "indexes": "index",
    "indices": "index",
    "axes": "axis",
    "hypotheses": "hypothesis",
    "parentheses": "parenthesis",
    "analyses": "analysis",
    "metastases": "metastasis",
    "kinases": "kinase",
    "halves": "half",
    "shelves": "shelf",
    "valves": "valve",
    "heroes": "hero",
    "shoes": "shoe",
    "canoes": "canoe",
    "quizzes": "quiz",
    "people": "person",
}
SINGULARS = ("status", "redis", "kubernetes", "analysis", "physics", "class", "series", "lens", "bus", "previous")


@pytest.mark.parametrize("plural", PLURALS)
def test_a_plural_becomes_its_singular(plural: str) -> None:
    """Regular endings by rule, the rest by name."""
    assert singular(plural) == PLURALS[plural]


@pytest.mark.parametrize("word", [*SINGULARS, *PLURALS.values()])
def test_a_singular_stays(word: str) -> None:
    """What is no plural is not cut, whatever it ends in."""
    assert singular(word) == word
