"""English word lists and the singular of a noun. Pure. Knows no other language: there its lists match nothing."""


def words(listed: str) -> frozenset[str]:
    """The set of the space-separated words of ``listed``."""
    return frozenset(listed.split())


FUNCTION_WORDS = words(
    "a about above across after again against all also although am among an and any are as at be because been before "
    "being below between both but by can cannot could did do does doing down during each either else ever every few "
    "for from further had has have having he her here hers him his how however i if in into is it its itself just may "
    "me might more most much must my neither no nor not now of off on once one only onto or other our out over own per "
    "rather same shall she should since so some still such than that the their them themselves then there therefore "
    "these they this those though through thus to too toward towards under until up upon us versus very via vs was we "
    "were what when where whereas whether which while who whom whose why will with within without would yet you your"
)


def singular(word: str) -> str:
    """The singular of a lower-case English noun by its ending; what does not look like a plural stays."""
    if len(word) < 4 or word.endswith(("ss", "us", "is", "ics", "ous")) or word in _NO_PLURALS:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for plural, one in _ENDINGS:
        if word.endswith(plural) and len(word) > 4:
            return word.removesuffix(plural) + one
    return word.removesuffix("s")


_ENDINGS = (
    ("eeses", "eese"),
    ("eses", "esis"),
    ("yses", "ysis"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("sses", "ss"),
    ("xes", "x"),
    ("zzes", "zz"),
    ("ies", "y"),
    ("oes", "o"),
)
"""Ending of a plural and of its singular; the first that fits a word of five letters or more counts."""

_AS_WRITTEN = words(  # nouns in -ie, -che and -oe, whose plural looks like that of a noun in -y, -ch and -o
    "brownie calorie cookie freebie genie hoodie indie movie newbie prairie rookie selfie smoothie veggie zombie "
    "ache avalanche cache headache niche psyche quiche canoe floe horseshoe oboe shoe throe"
)
_IN_S = words(  # nouns in -s, whose plural looks like that of a noun in -se
    "abacus alias apparatus atlas bias bonus bus campus canvas census chorus circus consensus corpus focus gas genius "
    "minus modulus nexus opus plus radius sinus status surplus syllabus thesaurus virus"
)
_IN_F = words("calf elf half hoof leaf loaf scarf self sheaf shelf thief wolf")
_IRREGULAR = {
    **{f"{noun}s": noun for noun in _AS_WRITTEN},
    **{f"{noun}es": noun for noun in _IN_S},
    **{f"{noun[:-1]}ves": noun for noun in _IN_F},
    "appendices": "appendix",
    "axes": "axis",
    "bases": "base",
    "children": "child",
    "crises": "crisis",
    "criteria": "criterion",
    "diagnoses": "diagnosis",
    "indices": "index",
    "knives": "knife",
    "matrices": "matrix",
    "men": "man",
    "metastases": "metastasis",
    "mice": "mouse",
    "oases": "oasis",
    "people": "person",
    "phenomena": "phenomenon",
    "prognoses": "prognosis",
    "quizzes": "quiz",
    "synopses": "synopsis",
    "vertices": "vertex",
    "women": "woman",
}
_NO_PLURALS = words(
    "alias always atlas bias canvas chaos diabetes does gas has herpes kubernetes lens news redis series species was"
)
