"""Which English words may be a finite verb. Owns the lists and the rule of thumb; refuses to parse a sentence.

There is no part-of-speech tagger here: a sentence is one when a word of it may well be its finite verb. The lists are
of the project's own making; regular forms follow from the bases.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from kb_pipeline.rules.words import words

AUXILIARIES = words(
    "am is are was were be been has have had do does did can cannot could may might must shall should will would "
    "isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't can't couldn't won't wouldn't "
    "shouldn't mustn't isn’t aren’t wasn’t weren’t hasn’t haven’t hadn’t doesn’t don’t didn’t can’t couldn’t "
    "won’t wouldn’t shouldn’t"
)
_CONTRACTED = re.compile(
    r"\b(?:it|he|she|that|there|what|here|who|i|you|we|they)['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE
)

# Verbs whose base or -s form is rarely a noun.
_PLAIN = words(
    "accelerate accept accommodate accompany accomplish accumulate achieve acquire activate adapt add adjust "
    "adopt advise affect aggregate agree aim align allocate allow alter amplify analyse analyze annotate announce "
    "appear append apply approve argue arise arrange arrive ask assemble assert assess assign assist associate "
    "assume attach attain attest augment authenticate authorize avoid await become begin behave believe belong "
    "bind bring build bump bundle buy calculate cancel capture carry cease characterise characterize choose "
    "clarify classify cluster coincide collapse collect combine come compare compete compile complete comprise "
    "compute concatenate conclude confer configure confirm conform connect consider consist constitute construct "
    "consume contain continue contribute converge convert convey cooperate coordinate correlate correspond create "
    "cut deal decide declare decline decode decompose decrease define delay delegate delete deliver demonstrate "
    "denote deny depend deploy deprecate derive describe deserve destroy detect determine develop deviate "
    "diagnose die differ differentiate diminish disable disappear discover discuss disperse display disrupt "
    "dissect dissociate distinguish distribute divide document dominate download drain drive earn eat elevate "
    "elicit eliminate embed emerge emit emphasise emphasize employ enable encapsulate encode encompass encounter "
    "encourage engage engender enhance enjoy enrich ensure entail enter equip establish estimate evaluate evict "
    "evoke evolve exacerbate examine exceed exclude execute exert exhibit exist expand expect expire explain "
    "exploit explore export expose express extend extract facilitate fall favour feed find finish fit fix follow "
    "forbid forget form forward fulfil fulfill gather generate get give go govern grow guarantee handle happen "
    "harbor harbour hear highlight hijack hinder hold identify ignore illustrate impair implement implicate imply "
    "import impose imprint improve include incorporate increase indicate induce infect infer inform inherit "
    "inhibit initiate inject insert inspect install instantiate integrate intend interact interfere interpret "
    "introduce invalidate invite invoke involve isolate iterate join keep know lack last launch lead learn leave "
    "lie limit listen live load locate lose lower maintain make manage manipulate map match maximise maximize "
    "mean measure mediate meet merge merit migrate minify minimise minimize mislocalize modify modulate monitor "
    "move multiply need negotiate normalise normalize observe obtain occur offer omit open operate optimise "
    "optimize orchestrate organise organize originate outperform overproduce override overwrite own parse "
    "participate pass pave penetrate perform permit persist phosphorylate play point populate possess postpone "
    "predict preempt prefer prefetch prepare prepend preserve prevent proceed produce prohibit promote propagate "
    "propose protect prove provide prune publish pull push put quantify quantize raise reach read realise realize "
    "rebuild receive recognise recognize recommend reconstruct record recover recruit redirect reduce refactor "
    "refer reflect refuse register regulate reject relate relax release reload rely remain remember remove render "
    "repeat replace replicate represent reproduce require rerun reserve reside resolve respond restart restore "
    "restrict result retain retire retrieve return reuse reveal revert rewrite rise run sanitize save say scale "
    "see seek seem select sell send separate serialize serve set share ship show simplify simulate sit skew skip "
    "solve specify spend split stand start stay stem stimulate stop store stream strengthen strip subclass submit "
    "subscribe succeed suffer suffice suggest summarize supply support suppress surround survive suspect suspend "
    "sustain switch synthesise synthesize take target teach tell tend terminate think throttle throw tokenize "
    "tolerate track translate translocate transmit treat trigger trust try turn tweak undergo understand unify "
    "unquote unsubscribe update upgrade upload use utilize validate vary verify visualize wait want warn waste "
    "weigh win wish work wrap write yield"
)
# Bases whose -s form is as often a plural noun: alone they do not make a sentence of words without a full stop.
_NOUNS_TOO = words(
    "accesses aims approaches attempts backs batches benefits blocks bonds bounds branches breaks builds bundles "
    "caches calls cases causes changes checks claims clusters codes comments concerns controls costs counts cuts "
    "declines decreases defaults delays deletes demands designs displays documents drops effects encounters ends "
    "estimates exports faces fails falls features fields files filters finds fits focuses forces forms forwards "
    "functions gains grants groups guarantees handles hashes helps holds hosts impacts imports increases "
    "influences interests issues joins jumps keys labels lacks leads leaves lets levels lies lifts limits links "
    "lists lives loads locks logs looks loops makes maps marks matches means measures merges monitors mounts "
    "moves names needs notes objects offers opens orders parts passes patterns pays places plans plays points "
    "ports prefers presents prints processes produces programs projects promises prompts prototypes pulls "
    "purposes pushes queries questions queues raises ranges ranks rates reaches reads reasons records references "
    "releases reports requests responses results returns reviews rises risks rolls routes rules runs samples "
    "saves scales scores searches sections sets shapes shares shifts ships shows signals skips sources speaks "
    "splits spreads stages stands starts states stays steps stops stores streams studies supplies supports "
    "switches tags takes targets tasks terms tests threads times tools traces tracks transfers transforms treats "
    "trends triggers turns types updates uses values views visits walks wants warns wastes ways weighs wins "
    "wishes works wraps writes yields"
)
_MORE = words(
    "access account address advance aim alert answer appeal approach argue arrive attack attempt attend average "
    "back balance base batch bear beat benefit block bond bound break burn buy cache call care case cause change "
    "charge check claim clear climb close code comment commit concern conduct control cost count cover cross "
    "damage debate decode default demand deny design detail dispatch double doubt draw drive drop earn emphasise "
    "encode end engage enjoy escape evict exchange exit expire explode face fail favor favour feature feel fetch "
    "fight file fill filter fix flow fly focus fold force function gain grant group guess guide hash help hide "
    "hinder hit host hurt impact index influence inherit inject interest invite issue judge jump kill label land "
    "laugh leak let level lift like link list lock log look loop lose love mark matter meet mention mirror miss "
    "mix model mount name note object offload order overcome overlap package pay peak pick pin place plan preempt "
    "prefetch prefix prepend present press print process profile program project promise prompt prune purchase "
    "quantize query question queue quit quote range rank rate realise realize reason rebuild recall reference "
    "reload report request rest retire retry review reward risk roll rotate route rule sample sanitize saturate "
    "schedule score search section sell shape shard shift shrink shut sign signal slow smooth sort sound source "
    "speak speed spill spread stage state steer step stick stress stretch strike struggle study subscribe succeed "
    "surprise suspend swap tag talk teach team tear term test thank thread throttle time tokenize touch trace "
    "trade train transfer transform travel trend type unquote unsubscribe value view visit walk warm wash watch "
    "weigh wonder worry"
)
_IRREGULAR = words(
    "arose ate became began bound bore bought broke brought built came caught chose cost crept cut dealt did drew "
    "drove fell felt fought flew forgot found froze gave got grew had held hid hit hurt kept knew laid led left "
    "lent let lost made meant met overcame paid put ran rang read rose said sank sat saw sent set shook shot "
    "showed shrank shut slept sold sought spent split spoke spread stood stuck struck swept swore taught thought "
    "threw told took underwent understood underlay underlies went withdrew woke won wore wrote overrode overwrote "
    "lay lies does goes has undergoes"
)

BASES = _PLAIN | _MORE


def _third(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return verb + "es"
    return verb[:-1] + "ies" if verb[-1] == "y" and verb[-2] not in "aeiou" else verb + "s"


_THIRD = frozenset(map(_third, BASES))
_SUBJECTLESS = frozenset(map(_third, _PLAIN)) - _NOUNS_TOO | words(
    "accesses attempts based benefits blocks builds called calls causes changes checks creates decreases defaults "
    "deletes designed displays exports fails filters finds handles hashes helps holds imports increases lets "
    "loads locks logs makes maps marks matches merges mounts needs opens parses passes prints produces reads "
    "required returns runs saves sends sets shows skips starts stops stores supports takes tests transforms "
    "triggers turns updates used uses wraps writes yields"
)
CERTAIN = (
    AUXILIARIES
    | (frozenset(map(_third, _PLAIN)) - _NOUNS_TOO)
    | (_IRREGULAR - words("cost cut felt hit hurt lay left let lies put read rose saw set shut spent split spread"))
)
_FORMS = BASES | _THIRD
_BASE_OF = {_third(verb): verb for verb in _PLAIN if _third(verb) in CERTAIN}
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_DETERMINERS = words("a an the this these those its their our your his her my each every no any all some it them us me")
_ARTICLES = words("a an the this these each")
_PREPOSITIONS = words(
    "to in on of with by from as for at into through between among during via over under within without towards "
    "toward about against before after until than like"
)
_SUBJECTS = words("all both none i we you they who which that people data men women mice bacteria children")
_LINKS = words("and or nor to")
_FREQUENCY = words("now also often only still always never again further thus then therefore even just already")
_CLAUSES = words("that which who whether if when where how what why so because until unless while")
_AFTER_VERB = _DETERMINERS | _PREPOSITIONS | _CLAUSES
_OF_CLAUSES = words("make ensure verify confirm check assume remember")
_MODALS = words("May Can Must Should Will Cannot")
_ANAPHORA = words("it this these those some all both each")
# Past forms that before a preposition are participles: "metrics related to requests" is no sentence.
_PARTICIPLES = words(
    "adapted aimed associated based called compared dedicated derived designed focused inspired intended located "
    "named needed powered related required targeted used"
)
_INSTRUCTIONS = (BASES | words("do be")) - words(
    "account back base bear case cause cost end exit fall feel form interest issue last lie like list live mean "
    "model need  note object part peak point process profile program range rate result rest rise risk rule score "
    "section shape sign  signal sound source stage state stem stress study team tear term thread time trade train "
    "trend type value view work"
)
_BEGINNINGS = _INSTRUCTIONS | words(
    "please then first next now finally always never also simply just optionally then, first, next, now, finally, also,"
)
_ADVERBS = re.compile(
    r"^[\"'“(*_\s]*(?:(?:please|then|first|next|now|finally|always|never|also|simply|just|optionally),?\s+)*",
    re.IGNORECASE,
)


def is_finite(text: str) -> bool:
    """Whether a word of ``text`` may well be a finite verb (generous: for text that ends like a sentence)."""
    if is_certain(text):
        return True
    tokens = _TOKEN.findall(text.lower())
    return any(map(_may_be_verb, ["", *tokens], tokens, [*tokens[1:], ""]))


@lru_cache(maxsize=64)  # of one sentence several rules ask
def is_certain(text: str) -> bool:
    """Whether ``text`` holds a finite verb that is hardly anything else."""
    lower = text.lower()
    if not CERTAIN.isdisjoint(lower.split()):  # nearly always decided here
        return True
    return not CERTAIN.isdisjoint(_TOKEN.findall(lower)) or _CONTRACTED.search(text) is not None


def is_imperative(text: str) -> bool:
    """Whether ``text`` begins like an instruction, an adverb or ``please`` aside.

    A verb that is also a noun needs an object at once: ``Test the client`` but not ``Test client``.
    """
    if text[:1].isupper() and text.split(" ", 1)[0].lower() not in _BEGINNINGS:  # nearly always decided here
        return False
    begun = _ADVERBS.sub("", text)[:80]
    tokens = _TOKEN.findall(begun)
    if not tokens or not begun.startswith(tokens[0]) or (len(tokens[0]) > 1 and tokens[0].isupper()):
        return False
    first, rest = tokens[0].lower(), [token.lower() for token in tokens[1:7]]
    if first not in _INSTRUCTIONS:
        return False
    if not rest:
        return len(text.split()) > 1
    if first not in _OF_CLAUSES and _is_clause(rest):
        return False
    return first in _PLAIN or rest[0] in _AFTER_VERB or not tokens[1].islower()


def _is_clause(rest: Sequence[str]) -> bool:
    """Whether an auxiliary follows before any clause begins: the first word was a subject, ``Access can be …``."""
    for word in rest:
        if word in _CLAUSES:
            return False
        if word in AUXILIARIES:
            return True
    return False


def begins_with_verb(text: str) -> bool:
    """Whether ``text`` begins with a verb in the third person or a participle that lacks its subject: ``Returns …``."""
    begun = _TOKEN.match(text, 0, 60)
    first = begun.group() if begun else ""
    if first not in _MODALS and first.lower() not in _SUBJECTLESS:  # nearly always decided here
        return False
    second = found.group() if (found := _TOKEN.search(text, len(first), 60)) else ""
    if first in _MODALS:
        return second in BASES or second in AUXILIARIES
    if first.lower() not in _NOUNS_TOO:
        return True
    return bool(second) and (second.lower() in _AFTER_VERB or not second.islower())


def base_of(third_person: str) -> str:
    """The base of a verb in the third person (``includes`` → ``include``), or ``""`` if it is not a certain one."""
    return _BASE_OF.get(third_person, "")


def is_third_person(word: str) -> bool:
    """Whether ``word`` is a form in the third person, though it may be a plural noun as well."""
    return word in _THIRD


def is_plain_verb(word: str) -> bool:
    """Whether ``word`` is the base of a verb that is rarely a noun."""
    return word in _PLAIN


def is_verb_form(word: str, after: str = "") -> bool:
    """Whether the lower-case ``word`` is a finite verb or a participle, judged by itself and the word ``after`` it.

    What is as often a noun (``requests``, ``process``) is a verb before an article; a form in -ing is a noun.
    """
    if word in CERTAIN or (len(word) > 4 and word.endswith("ed") and not word.endswith("eed")):
        return True
    return word in _FORMS and after in _DETERMINERS


def _may_be_verb(before: str, word: str, after: str) -> bool:
    """Whether ``word`` may be a finite verb between its neighbours; each rule stands for one kind of evidence."""
    if not before or before in _PREPOSITIONS or (before in _DETERMINERS and before not in _ANAPHORA):
        return False
    governs = after in _DETERMINERS or after in _PREPOSITIONS or after == "that" or after.endswith("ing")
    if word in _IRREGULAR or (word.endswith("s") and not word.endswith("ss") and after in _ARTICLES):
        return True
    if word in _THIRD:
        return bool(after) and before not in _LINKS
    if word in BASES:
        plural = before.endswith("s") and not before.endswith(("ss", "us", "is", "ous"))
        return (
            plural
            or (word in _PLAIN and before not in _LINKS)
            or before in _SUBJECTS
            or _is_adverb(before)
            or (governs and before not in _LINKS)
        )
    is_past = len(word) > 3 and word.endswith("ed") and not word.endswith("eed")
    return is_past and not (word in _PARTICIPLES and after in _PREPOSITIONS)


def _is_adverb(word: str) -> bool:
    return word in _FREQUENCY or (len(word) > 4 and word.endswith("ly"))
