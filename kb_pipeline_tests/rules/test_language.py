"""Telling languages apart."""

import subprocess
import sys

import pytest

from kb_pipeline.rules.language import language

ENGLISH = "The queue was full, and the requests which had come first were dropped with an error that nobody had seen."
GERMAN = "Die Warteschlange war voll, und die Anfragen, die zuerst kamen, wurden mit einem Fehler verworfen. "


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (f"{GERMAN * 12}Das Protokoll sagt: {ENGLISH}", "de"),
        (
            "La file était pleine, et les requêtes qui étaient venues les premières ont été rejetées avec une erreur.",
            "fr",
        ),
        ("Køen var fuld, og de forespørgsler, som var kommet først, blev afvist med en fejl, ingen havde set.", "da"),
        ("Installing packages requires administrator privileges, network connectivity, sufficient disk space.", "en"),
        ("max_seq_len", "und"),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    """Prose is told from others, also where it quotes another language, and a name is no language."""
    assert language(text) == code


def test_english_prose_needs_no_model() -> None:
    """The model is not loaded where function words tell."""
    code = f"""
import sys
from kb_pipeline.rules.language import language
assert language({ENGLISH!r}) == "en"
assert "py3langid" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
