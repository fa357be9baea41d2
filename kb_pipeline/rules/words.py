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
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word.removesuffix("s")


_IRREGULAR = {
    "analyses": "analysis",
    "bases": "base",
    "caches": "cache",
    "children": "child",
    "criteria": "criterion",
    "diagnoses": "diagnosis",
    "hypotheses": "hypothesis",
    "indices": "index",
    "matrices": "matrix",
    "men": "man",
    "mice": "mouse",
    "movies": "movie",
    "people": "person",
    "phenomena": "phenomenon",
    "vertices": "vertex",
    "women": "woman",
}
_NO_PLURALS = words(
    "alias always atlas bias canvas chaos diabetes does gas has herpes kubernetes lens news redis series species was"
)
