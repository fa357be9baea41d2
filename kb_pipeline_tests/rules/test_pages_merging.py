"""A page of two hands: a person's words survive, the machine's follow its items, what both changed is told."""

import random

from kb_pipeline.rules import ids
from kb_pipeline.rules.pages.markdown import inline, plain, quoted
from kb_pipeline.rules.pages.merging import BY_HAND, is_reviewed, is_untouched, line_hashes, merged


def page(*sentences: str) -> str:
    """A page as the machine renders it; the sentence ``a: text`` cites the item ``kb_a``."""
    told = [s.partition(": ") for s in sentences]
    head = 'id: "pg_1"\ntitle: "T"'
    lines = [f"{text}[^kb_{key}]" for key, _, text in told]
    feet = [f"[^kb_{key}]: “{text}”" for key, _, text in told]
    body = "\n".join(["# T", "", "## How it works", "", *lines, "", *feet, ""])
    return f"---\n{head}\nrendering: {ids.digest(head, body)[:16]}\n---\n\n{body}"


BASE = page("a: Alpha is one.", "b: Beta is two.", "c: Gamma is three.")


def test_a_page_as_rendered_is_untouched() -> None:
    """The hash in the front matter tells, after any edit, that a person was there."""
    assert is_untouched(BASE)
    assert not is_untouched(BASE.replace("two", "2"))
    assert not is_untouched(BASE + "\nmine\n")


def test_an_edited_sentence_is_kept_and_marked() -> None:
    """It stays through any later rendering, as a person's."""
    person = BASE.replace("Beta is two.[", "Beta is about two.[")
    first = merged(line_hashes(BASE), BASE, person)
    assert f"Beta is about two.[^kb_b]{BY_HAND}\n" in first.text
    assert f"{BY_HAND}: A person wrote" in first.text
    now = page("a: Alpha is 1.", "b: Beta is two.", "c: Gamma is three.", "d: Delta is four.")
    second = merged(line_hashes(BASE), now, first.text)
    assert f"Beta is about two.[^kb_b]{BY_HAND}\n" in second.text
    assert "Alpha is 1.[^kb_a]\n" in second.text
    assert "Delta is four.[^kb_d]\n" in second.text
    assert (second.by_hand, second.clashes) == ((f"Beta is about two.[^kb_b]{BY_HAND}",), ())


def test_a_clash_keeps_the_persons_words_and_tells_the_machines() -> None:
    """What both changed stays as the person has it."""
    person = BASE.replace("Beta is two.[", "Beta is about two.[")
    done = merged(line_hashes(BASE), page("a: Alpha is one.", "b: Beta is 2.0.", "c: Gamma is three."), person)
    assert "Beta is about two." in done.text
    assert "Beta is 2.0.[" not in done.text
    (clash,) = done.clashes
    assert clash.machine == ("Beta is 2.0.[^kb_b]",)


def test_an_edit_outlives_its_item_without_its_footnote() -> None:
    """An item that left the page takes its footnote along, not the person's sentence."""
    person = BASE.replace("Beta is two.[", "Beta is about two.[")
    done = merged(line_hashes(BASE), page("a: Alpha is one.", "c: Gamma is three."), person)
    assert f"Beta is about two.{BY_HAND}\n" in done.text
    assert "kb_b" not in done.text
    assert [clash.machine for clash in done.clashes] == [()]


def test_an_edited_sentence_whose_item_was_replaced_clashes_with_its_heir() -> None:
    """The person's stands alone, and what the machine says in its place waits; all else that is new stands."""
    base = page("a: Alpha keeps 3 snapshots on disk.", "b: Beta is two.", "c: Gamma is 3.")
    person = base.replace("Alpha keeps 3 snapshots on disk.", "Alpha keeps three snapshots on its disk.")
    machine = page(
        "e: Alpha keeps 33 snapshots on disk.", "d: Delta writes a log.", "b: Beta is two.", "c: Gamma is 3."
    )
    done = merged(line_hashes(base), machine, person)
    assert "Alpha keeps three snapshots on its disk.[^by-hand]" in done.text
    assert "Alpha keeps 33" not in done.text.partition("[^kb_e]:")[0]
    assert "Delta writes a log." in done.text
    (clash,) = done.clashes
    assert clash.machine == ("Alpha keeps 33 snapshots on disk.[^kb_e]",)


def test_a_section_of_a_person_is_never_touched() -> None:
    """Neither marked nor moved, wherever it stands."""
    own = "## My notes\n\nKeep this. And this_too.\n\n- a point\n"
    for person in (BASE + f"\n{own}", BASE.replace("## How", f"{own}\n## How")):
        done = merged(line_hashes(BASE), page("a: Alpha is 1.", "d: Delta is four."), person)
        assert own in done.text
        assert BY_HAND not in done.text
        assert "Alpha is 1." in done.text


def test_a_deleted_sentence_stays_deleted_until_the_machine_has_another() -> None:
    """Taking a sentence out is an edit too."""
    person = BASE.replace("Beta is two.[^kb_b]\n", "")
    again = merged(line_hashes(BASE), BASE, person)
    assert "Beta is two.[" not in again.text


def test_the_front_matter_is_of_both() -> None:
    """A person's fields stay, the machine's follow; ids and hashes are the machine's alone."""
    person = BASE.replace('title: "T"', 'title: "Tea"\nreviewed: true\nmood: good').replace('"pg_1"', '"pg_2"')
    done = merged(line_hashes(BASE), BASE, person)
    assert 'title: "Tea"' in done.text
    assert "mood: good" in done.text
    assert 'id: "pg_1"' in done.text
    assert is_reviewed(done.text)


def test_an_edit_changes_nothing_else_of_a_page_that_was_made_anew() -> None:
    """Sentences that moved, blocks of code that came, blank lines and footnotes in another order: all stand as the
    machine has them, with the person's words in the place of those that he changed and none that he took out."""
    told = [f"Item {key} is {n}.[^kb_{key}]" for n, key in enumerate("abcdef")]
    feet = [f"[^kb_{key}]: “Item {key} is {n}.”" for n, key in enumerate("abcdef")]
    base = "\n".join(["# T", "", *told, "", *feet, ""])
    person = base.replace("Item c is 2.[", "Item c is two.[").replace(f"{told[4]}\n", "")
    person = person.replace("\n\n[^kb_a]", "\n\n## Mine\n\nMy words.\n\n[^kb_a]")
    code = ["```python", "x = [", "    1,", "", "]", "```"]
    new = ["Item g is 6.[^kb_a]", "", *code, "", f"- {told[5]}", "- Item h is 7.[^kb_b]"]
    now = [told[3], "", *new, "", "## How to", "", told[1], told[2], "", *code, "", told[4], told[0]]
    done = merged(line_hashes(base), "\n".join(["# T", "", *now, "", *feet[::-1], ""]), person).text
    theirs = [line.replace("c is 2.[^kb_c]", f"c is two.[^kb_c]{BY_HAND}") for line in now if line != told[4]]
    assert "\n".join(theirs) in done
    assert "\n## Mine\n\nMy words.\n" in done
    assert [line for line in done.split("\n") if line.startswith("[^kb_")] == feet[::-1]
    last = page("a: Alpha is one.", "b: Beta is two.")
    edited = last.replace("Beta is two.[", "Beta is about two.[")
    both = merged(line_hashes(last), page("a: Alpha is 1."), edited).text
    assert f"Alpha is 1.[^kb_a]\nBeta is about two.{BY_HAND}\n\n[^kb_a]" in both
    without = merged(line_hashes(base), base, person.replace(f"{feet[1]}\n", "").replace(f"{feet[3]}\n", "")).text
    assert sorted(line for line in without.split("\n") if line.startswith("[^kb_")) == feet


def test_random_edits_survive_random_renderings() -> None:
    """Every sentence that a person wrote is there after any number of renderings, each line of the machine that he did
    not touch is as the machine has it, and merging again changes nothing."""
    chance = random.Random(3)
    for _ in range(40):
        facts = {key: f"Item {key} is {chance.randint(1, 9)}." for key in "abcdefgh"}
        base = page(*(f"{key}: {text}" for key, text in facts.items()))
        text, mine = base, set[str]()
        for step in range(6):
            key = chance.choice(sorted(facts))
            if chance.random() < 0.5 and facts[key] in text:
                words = f"By hand {step} about {key}."
                text = text.replace(f"{facts[key]}[^", f"{words}[^", 1)
                mine = {m for m in mine if f"about {key}." not in m} | {words}
            facts[chance.choice(sorted(facts))] = f"Item is {chance.randint(10, 99)}{step}."
            now = page(*(f"{key}: {text}" for key, text in facts.items()))
            done = merged(line_hashes(base), now, text)
            assert all(words in done.text for words in mine if words in text)
            assert merged(line_hashes(now), now, done.text).text == done.text
            base, text = now, done.text


def test_plain_text_survives_markdown() -> None:
    """Names become code, what Markdown would read as its own is escaped, and reading it back gives the same words."""
    for text in (
        "You can use ['*'] to allow any origin.",
        'Set allow_origins=["*"] or --max-num-seqs to 4.',
        "# of replicas * 2 < 5 _and_ `code` [x](y)",
        "Call `app.url_for(name, **path_params)` -> URL.",
        "1. This is no list.",
        "See https://example.org/a_b for <b>more</b>.",
        "Endpoints (i.e. classes), e.g., these, a.m. and U.S. too.",
        "قيمة الذاكرة 16 و 缓存 keeps 16 pages_of_4 KB.",
    ):
        assert plain(inline(text)) == text
    assert "`" not in inline("Endpoints (i.e. classes), e.g., these, a.k.a. those.")
    assert inline("Use allow_origins now.") == "Use `allow_origins` now."
    assert quoted("Use `allow_origins` [here](x.md).") == "Use `allow_origins` \\[here](x.md)."
