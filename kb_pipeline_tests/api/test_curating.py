"""People decide: reviews, decisions and their undoing, edits by field, what is hidden and brought back."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.errors import KbError, NotFound
from kb_pipeline.records import ItemView
from kb_pipeline.rules import ids
from kb_pipeline_tests.driving import Cli, built, compile_all, new_root, opened

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks.\n\nThe alpha server accepts 512 connections at once.\n"
BETA = "# Beta\n\nThe alpha cache holds 32 blocks.\n\nBeta weighs 7 kg.\n"
TAXONOMY = """version: 1
categories:
  - {name: Caches, description: What is kept in memory, keywords: [cache]}
  - {name: Limits, description: What is allowed at most, keywords: [limit]}
tags: {}
"""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_root(tmp_path_factory.mktemp("pristine") / "kb", {"notes/alpha.md": ALPHA, "notes/beta.md": BETA})
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    built(root)
    return root


@pytest.fixture
def root(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "kb"))


def rebuilt(root: Path) -> None:
    """A build, one after the cache was lost, and one of everything: what a person decided must survive all."""
    built(root)
    shutil.rmtree(root / "kb/cache")
    built(root)
    built(root, full=True)


def active(root: Path) -> dict[str, dict[str, Any]]:
    return Cli(root).active()


def named(root: Path, statement: str) -> str:
    return next(key for key, item in Cli(root).items().items() if item["statement"] == statement)


SIXTEEN, THIRTY_TWO = "The alpha cache holds 16 blocks.", "The alpha cache holds 32 blocks."


def test_a_conflict_waits_with_both_quotes(root: Path) -> None:
    """Two figures of one thing are a conflict with its name, both statements and quotes, and what may be done."""
    with opened(root) as base:
        (conflict,) = base.conflicts()
        (review,) = (r for r in base.reviews() if r.kind == "conflict")
    assert review.name == f"conflict:{conflict.a}:{conflict.b}"
    assert {i.statement for i in review.items} == {q.text for q in review.quotes} == {SIXTEEN, THIRTY_TWO}
    assert "merge" in review.actions


@pytest.mark.parametrize(
    ("action", "statuses"),
    [
        ("keep", {"active"}),
        ("merge", {"active"}),
        ("supersede", {"active", "superseded"}),
        ("retire", {"active", "retired"}),
    ],
)
def test_a_decision_survives_every_build_and_ends_with_its_undoing(root: Path, action: str, statuses: set[str]) -> None:
    """Carried out by the next build, kept through a full one and a lost cache, taken back by undo."""
    first, second = named(root, THIRTY_TWO), named(root, SIXTEEN)
    before = active(root)
    with opened(root) as base:
        base.decide(f"conflict:{first}:{second}", action, "measured again", "ada")
    rebuilt(root)
    items = Cli(root).items()
    found = {key: items[key] for key in (first, second) if key in items}
    assert {item["status"] for item in found.values()} == statuses
    assert len(found) == (1 if action == "merge" else 2)
    if action in {"supersede", "retire"}:
        assert found[first]["status"] == "active"
    with opened(root) as base:
        assert base.conflicts() == []
        assert not [r for r in base.reviews() if r.kind in {"conflict", "pair"}]
        assert base.undo().who == "ada"
    built(root)
    after = active(root)
    assert {(k, i["id"], i["created_at"]) for k, i in after.items()} == {
        (k, i["id"], i["created_at"] if action != "merge" or i["id"] in found else after[k]["created_at"])
        for k, i in before.items()
    }
    with opened(root) as base:
        assert len(base.conflicts()) == 1


def test_a_person_parts_what_the_machine_merged(root: Path) -> None:
    """Both ids are named, and two items they are in every later build."""
    (root / "notes/gamma.md").write_text("# Gamma\n\nAt once the alpha server accepts 512 connections.\n")
    built(root)
    (merged,) = (item for item in active(root).values() if "512" in item["statement"])
    with opened(root) as base:
        shown = base.show(merged["id"])
        assert isinstance(shown, ItemView)
        (decision,) = (d for d in shown.decisions if d.decision == "merge")
        (other,) = {ids.item_id(draft) for draft in (decision.a, decision.b)} - {merged["id"]}
        with pytest.raises(KbError, match="`keep` parts"):
            base.decide(f"pair:{merged['id']}:{other}", "merge", "one fact")
        base.decide(f"pair:{merged['id']}:{other}", "keep", "not the same")
    rebuilt(root)
    parted = [item for item in active(root).values() if "512" in item["statement"]]
    assert {(item["id"], len(item["sources"])) for item in parted} == {(merged["id"], 1), (other, 1)}


def test_a_decision_follows_the_words_not_the_place(root: Path) -> None:
    """A moved document changes nothing about what a person decided of its statements."""
    first, second = named(root, SIXTEEN), named(root, THIRTY_TWO)
    with opened(root) as base:
        base.decide(f"pair:{first}:{second}", "merge", "a typing mistake")
    (root / "notes/alpha.md").rename(root / "notes/moved.md")
    built(root)
    (item,) = (i for i in active(root).values() if "cache holds" in i["statement"])
    assert {s["doc_id"] for s in item["sources"]} == {"notes/moved.md", "notes/beta.md"}


def test_what_is_uncertain_waits_until_it_is_looked_at(root: Path) -> None:
    """An item without a category waits; kept as it is, or filed by hand, it waits no more, in every later build."""

    def waiting() -> set[str]:
        with opened(root) as base:
            return {r.items[0].statement for r in base.reviews() if r.kind == "unclassified"}

    kept, filed = "Beta weighs 7 kg.", "The alpha server accepts 512 connections at once."
    assert {kept, filed} <= waiting()
    with opened(root) as base:
        base.decide(f"item:{named(root, kept)}:unclassified", "keep", "there is no better place")
        assert base.edit(named(root, filed), {"primary_category": "limits"}).primary_category == "Limits"
    rebuilt(root)
    assert waiting().isdisjoint({kept, filed})
    assert (root / "kb/items/limits" / f"{named(root, filed)}.json").is_file()


@pytest.mark.parametrize(
    ("name", "action", "reason", "says"),
    [
        ("pair:{a}:{a}", "merge", "x", "merged already"),
        ("pair:{a}:kb_none", "merge", "x", "no item 'kb_none'"),
        ("pair:{a}:{b}", "marry", "x", "Actions: merge, keep"),
        ("pair:{a}:{b}", "merge", " ", "needs a reason"),
        ("{a}", "merge", "x", "Names: pair:ID:ID"),
        ("item:{a}:edit:statement", "mine", "x", "nothing clashes in 'statement'"),
    ],
)
def test_a_decision_that_means_nothing_says_why(root: Path, name: str, action: str, reason: str, says: str) -> None:
    """Nothing is recorded, and the error has the cure."""
    a, b = named(root, SIXTEEN), named(root, THIRTY_TWO)
    with opened(root) as base:
        with pytest.raises(KbError, match=says):
            base.decide(name.format(a=a, b=b), action, reason)
        assert base.decide(f"pair:{a}:{b}", "skip", "").action == "skip"
        with pytest.raises(NotFound):
            base.undo()
    assert not (root / "kb/dedup/human.jsonl").exists()


def test_a_decision_that_cannot_be_read_is_named(root: Path) -> None:
    """A line that git or a person broke stops the stage that it steers, with file and field; nothing is forgotten."""
    with opened(root) as base:
        base.decide(f"conflict:{named(root, SIXTEEN)}:{named(root, THIRTY_TWO)}", "keep", "two caches")
    path = root / "kb/dedup/human.jsonl"
    line = path.read_text()
    path.write_text(line + line.replace('"keep"', '"marry"'))
    with opened(root) as base:
        for act in (lambda: compile_all(base), base.undo):
            with pytest.raises(KbError, match=r"dedup/human\.jsonl: action: .*'merge', 'keep'"):
                act()
    path.write_text(line)
    built(root)


def test_a_status_by_hand_holds_until_it_is_taken_back(root: Path) -> None:
    """Retired by hand an item stays so through every build; restored it returns under its id."""
    key = named(root, "Beta weighs 7 kg.")
    with opened(root) as base:
        base.edit(key, {"status": "retired"})
    rebuilt(root)
    assert Cli(root).items()[key]["status"] == "retired"
    assert "Beta weighs 7 kg." not in active(root)
    with opened(root) as base:
        base.restore(key)
    rebuilt(root)
    assert active(root)["Beta weighs 7 kg."]["id"] == key
    with opened(root) as base, pytest.raises(NotFound):
        base.restore(key)


def test_what_is_superseded_is_in_force_again_by_hand(root: Path) -> None:
    """A person's word that both hold outranks a supersession."""
    old, new = named(root, SIXTEEN), named(root, THIRTY_TWO)
    with opened(root) as base:
        base.decide(f"pair:{new}:{old}", "supersede", "the newer one")
    built(root)
    with opened(root) as base:
        base.edit(old, {"status": "active"})
    rebuilt(root)
    assert {SIXTEEN, THIRTY_TWO} <= active(root).keys()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"primary_category": "Nowhere"}, "Categories: Caches, Limits"),
        ({"confidence": "sure"}, "confidence"),
        ({"statement": "  "}, "must say something"),
        ({"sources": []}, "cannot be edited"),
        ({"status": "superseded"}, "active or retired"),
    ],
)
def test_an_edit_that_cannot_stand_is_refused_at_once(root: Path, fields: dict[str, Any], says: str) -> None:
    """The error names the field and the cure, and the file is as it was."""
    key = named(root, "Beta weighs 7 kg.")
    before = json.dumps(Cli(root).items()[key])
    with opened(root) as base, pytest.raises(KbError, match=says):
        base.edit(key, fields)
    assert json.dumps(Cli(root).items()[key]) == before


def test_words_that_leave_with_their_document_are_named_once(root: Path) -> None:
    """A document that rewords an edited fact states another one: the build says whose words are served no longer."""
    key = named(root, "Beta weighs 7 kg.")
    with opened(root) as base:
        base.edit(key, {"statement": "Beta weighs 7 kg in all.", "tags": ["weight"]})
    assert [w for w in built(root) if "edited by hand" in w] == [f"tags: {key} was edited by hand; the edit is kept."]
    (root / "notes/beta.md").write_text(BETA.replace("weighs 7 kg", "weighs only 7 kg"))
    (told,) = (warning for warning in built(root) if key in warning)
    assert "(statement, tags) is kept, and served no longer" in told
    with opened(root) as base:
        assert [event.kind for event in base.history(key)] == ["born", "edited", "retired"]
    assert not [warning for warning in built(root, full=True) if key in warning]


def test_a_clash_is_shown_and_settled_either_way(root: Path) -> None:
    """What the machine says of an edited field since waits for review and is shown; mine or machine ends it, and undo
    brings it back."""
    key = named(root, "Beta weighs 7 kg.")
    with opened(root) as base:
        base.edit(key, {"primary_category": "Caches"})
    built(root)
    (root / "taxonomy.yaml").write_text(TAXONOMY.replace("[limit]", "[limit, beta, weighs]"))
    built(root)
    name = f"item:{key}:edit:primary_category"
    for action, category in (("mine", "Caches"), ("machine", "Limits")):
        with opened(root) as base:
            (review,) = (r for r in base.reviews() if r.kind == "edit")
            assert (review.name, review.values) == (name, {"mine": "Caches", "machine": "Limits"})
            base.decide(name, action, "so it is")
        rebuilt(root)
        item = Cli(root).items()[key]
        assert (item["primary_category"], item["clashes"]) == (category, {})
        with opened(root) as base:
            assert not [r for r in base.reviews() if r.kind == "edit"]
            base.undo()
        rebuilt(root)
        assert Cli(root).items()[key]["clashes"] == {"primary_category": "Limits"}
