"""Which language a text is in. Pure; loads its model on first use."""

_SAMPLE = 2000  # code points: enough to tell, and bounded


def language(text: str) -> str:
    """ISO 639-1 code of the language of ``text``; ``und`` where there are fewer than 20 letters."""
    sample = text[:_SAMPLE]
    if sum(c.isalpha() for c in sample) < 20:
        return "und"
    from py3langid import classify  # loads a model of 100 MB: only where a document is new

    return str(classify(sample)[0])
