"""Words that count as one: forms that a stemmer does not see, and synonyms. Pure.

Owns two tables. A form is folded always; a synonym only for whom asks, since it may be none in its sentence. No word
stands in two rows of a table. Made for English.
"""

import Stemmer

# Forms and abbreviations of one word; those of one row count as the row's first.
_FORMS = """
begin began begun / bind bound / bring brought / build built / break broke broken / catch caught / choose chose chosen
/ come came / drive drove driven / fail failure / fall fell fallen / feed fed / find found / forbid forbade forbidden
/ freeze froze frozen / get got gotten / give gave given / go goes went gone / grow grew grown growth /
hide hid hidden / hold held / keep kept / know knew known / lead led / leave left / lose lost loss / make made /
mean meant / pay paid / rise rose risen / run ran / say said / see saw seen / sell sold / send sent /
show showed shown / shrink shrank shrunk / speak spoke spoken / spend spent / stand stood / store storage /
take took taken / teach taught / tell told / think thought / throw threw thrown / use usage utilize utilise /
program programme / license licence / practice practise / gray grey / catalog catalogue / fiber fibre / center centre
/ liter litre / meter metre / understand understood / win won / write wrote written / percent % / second s sec /
millisecond ms / minute min / hour h hr / kilobyte kb / megabyte mb / gigabyte gb / terabyte tb / administrator admin
/ application app / average avg / configuration config / database db / documentation docs / environment env /
identifier id / information info / javascript js / kubernetes k8s / maximum max / postgres postgresql /
repository repo / specification spec / typescript ts
"""

# Words that say the same in plain and technical prose, in nearly every sentence.
_SYNONYMS = """
accelerate speed hasten / achieve reach attain / act behave / add introduce / additional extra further /
advantage benefit / afterwards subsequently / alert notify inform / allow permit let enable / almost nearly /
amount quantity / answer respond reply / appear seem / appropriate suitable / approve authorize authorise /
arrange organize organise / assign allocate / attempt try / attendee participant / automatically automated /
avoid prevent / await wait / basic fundamental / begin start commence launch initiate / big large / bigger larger /
broad wide / build construct assemble / buy purchase / calculate compute / call invoke / careful cautious /
carry transport / cause trigger / chance probability likelihood / change modify alter adjust / cheap inexpensive /
check verify validate confirm / choice option / choose select pick / close shut / collect gather / combine merge unite
/ commonly widely / company firm / comparable similar / completely fully entirely totally / conceal hide /
connect link associate tie / contain include comprise hold / contaminate pollute / contemporary modern /
convert transform turn / correctly properly / costly expensive / count number / country nation /
create generate produce make yield / crucial essential vital / damage harm impair / dangerous hazardous /
deadly fatal lethal / defect flaw / delay postpone defer / delete remove erase eliminate discard purge / depend rely /
describe explain / design devise / destroy demolish ruin / detect discover / differ vary / different another /
difficult hard challenging / directory folder / disappear vanish / disease illness / distinct separate /
divide split partition / doctor physician / drawback disadvantage / drug medication medicine / duplicate copy /
duty responsibility / easy simple straightforward / emit issue / encounter face / enlarge expand extend prolong /
enough sufficient adequate / enroll enrol recruit / ensure guarantee / especially particularly notably /
establish founded / evaluate assess / eventually finally / exactly precisely /
examine inspect analyse analyze investigate / exceed surpass / excellent outstanding / expect anticipate /
expert specialist / explicitly expressly / famous renowned / fast quick rapid swift / faster quicker /
faulty defective / feature capability ability / fetch pull retrieve / film movie / finish complete end conclude /
fix repair / flat apartment / forbid prohibit disallow ban / forecast predict / get obtain receive acquire /
give provide offer supply / goal aim objective purpose / govern regulate / gradually progressively / handle process /
happen occur arise / help assist aid / higher greater / hinder hamper impede obstruct / holiday vacation /
huge enormous vast / identify recognize recognise / idle inactive / illegal unlawful / image picture photo /
imitate mimic / immediately instantly promptly / improve enhance / incorporate integrate /
increase raise elevate rise grow climb / inhabitant resident / injury wound / job task / jointly together /
journey trip / jump leap / keep retain preserve maintain store save write persist / lawyer attorney /
limit cap restrict constrain / location site / lorry truck / main primary principal /
mainly chiefly primarily mostly principally predominantly largely / manage administer oversee supervise /
method technique approach / mitigate alleviate / monitor track / move relocate /
need require necessary mandatory obligatory compulsory take / obstacle barrier / obvious evident / odd strange /
oldest earliest / outcome result / own possess / owner proprietor / petrol gasoline / phase stage / prefer favor /
previous prior / price cost / proof evidence / propose suggest recommend / protect guard shield / publish release /
pupil student / quickly rapidly swiftly / quit resign / rainfall precipitation rain / randomly arbitrarily /
rare uncommon unusual / rebuild reconstruct / reduce lower decrease cut diminish fall decline lessen curb /
refund reimburse / refuse reject / regularly routinely / reliable dependable trustworthy / remain stay /
remember recall / replace substitute / reside live dwell inhabit / resist withstand / rich wealthy / robust resilient
/ rule regulation / run execute perform conduct operate / salary wage / sample specimen / schedule plan /
send transmit dispatch / separately individually independently / serious severe / set configure / sharply steeply /
shortage lack scarcity / show demonstrate display reveal indicate exhibit present / sick ill /
significantly substantially considerably markedly / silently quietly / simultaneously concurrently /
slightly marginally / solve resolve / speak talk / spread distribute / staff employee personnel /
stop halt terminate cease abort / strict rigorous / summary overview / supplier vendor / teach instruct /
temporary provisional / total overall / toxic poisonous / trend tendency / use employ leverage consume /
variety diversity / weak feeble / wrong incorrect
"""


def rows(table: str) -> list[list[str]]:
    """The rows of a table, which slashes part."""
    return [row.split() for row in table.split("/")]


_stem = Stemmer.Stemmer("english").stemWord
FORMS = {word: first for first, *others in rows(_FORMS) for word in (first, *others)}
"""A word to the form that it counts as."""
SYNONYMS = {_stem(word): _stem(first) for first, *others in rows(_SYNONYMS) for word in (first, *others)}
"""A stem to the stem that it counts as where synonyms are folded."""
