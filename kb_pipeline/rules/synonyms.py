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
absorb absorption / accelerate speed hasten / accidentally inadvertently unintentionally / achieve reach attain /
act behave / add introduce / additional extra further / advantage benefit / advertisement advert /
affect influence impact effect / afterwards subsequently / aircraft plane airplane aeroplane /
alert notify inform notification / allow permit let enable permission / almost nearly / amount quantity /
answer respond reply / appear seem / applicant candidate / appropriate suitable / approve authorize authorise /
arrange organize organise / ask request demand / assign allocate / attempt try / attendee participant /
automatically automated / avoid prevent / await wait / ballot vote / bankrupt insolvent / basic fundamental /
begin start commence launch initiate / bicycle bike / big large / bigger larger / bill invoice / border boundary /
broad wide / build construct assemble / buy purchase / calculate compute / call invoke / car automobile /
cardiac heart / careful cautious / cargo freight / carry transport / cause trigger / chance probability likelihood /
change modify alter adjust / cheap inexpensive / check verify validate confirm verification / child kid /
choice option / choose select pick / classify classification categorise categorize / close shut / colleague coworker /
collect gather / combine merge unite / commonly widely / company firm business enterprise / comparable similar /
completely fully entirely totally / complex complicated intricate / conceal hide / connect link associate tie /
constantly continuously / contain include comprise hold / contaminate pollute / contemporary modern /
convert transform turn conversion / correctly properly / costly expensive / count number / country nation /
create generate produce make yield production / crucial essential vital / curriculum syllabus / damage harm impair /
dangerous hazardous / deadly fatal lethal / decide decision / defect flaw / delay postpone defer deferral /
delete remove erase eliminate discard purge / dense compact / deny denial / depart departure / depend rely /
describe explain description explanation / design devise / destroy demolish ruin destruction /
detect discover discovery / device gadget / die death / differ vary / different another / difficult hard challenging /
directory folder / disappear vanish / disc disk / disease illness / distinct separate /
divide split partition division / doctor physician / drawback disadvantage / drug medication medicine / duplicate copy /
duty responsibility / easy simple straightforward / emit issue issuance emission / encounter face /
enlarge expand extend prolong expansion extension / enough sufficient adequate / enroll enrol recruit /
ensure guarantee / enter entry / erode erosion / error mistake / especially particularly notably /
establish founded / evaluate assess / eventually finally / exactly precisely /
examine inspect analyse analyze investigate analysis / exceed surpass / excellent outstanding / exchange swap /
exclude omit / expect anticipate / expert specialist / explicitly expressly / explode explosion / expose exposure /
famous renowned / fast quick rapid swift / faster quicker / faulty defective broken / feature capability ability /
fee charge / fetch pull retrieve / film movie / finish complete end conclude / fix repair mend / flat apartment /
forbid prohibit disallow ban / forecast predict / fragile delicate brittle / fridge refrigerator / fund finance /
garbage rubbish trash / gauge measure / get obtain receive acquire / give provide offer supply / global worldwide /
goal aim objective purpose / govern regulate / gradually progressively / grant award / grasp grip / guest visitor /
handle process / happen occur arise occurrence / heat warmth / heavily strongly / help assist aid / hepatic liver /
higher greater / hinder hamper impede obstruct / holiday vacation / huge enormous vast / hurricane cyclone typhoon /
identify recognize recognise identification recognition / idle inactive / ignore disregard skip overlook /
illegal unlawful / image picture photo / imitate mimic / immediately instantly promptly / improve enhance /
inaccurate imprecise / incorporate integrate / increase raise elevate rise grow climb boost / infer deduce /
inhabitant resident / injury wound / job task / jointly together / journey trip / jump leap /
keep retain preserve maintain store save write persist retention / laboratory lab / lawyer attorney / lease rental /
legal lawful / limit cap restrict constrain / location site / lorry truck / loud noisy / main primary principal /
mainly chiefly primarily mostly principally predominantly largely / manage administer oversee supervise / melt thaw /
merchandise goods / method technique approach / mitigate alleviate relieve ease / monitor track /
move relocate movement / multiply multiplication / need require necessary mandatory obligatory compulsory take /
observe notice spot / obsolete outdated / obstacle barrier / obvious evident apparent / odd strange / oldest earliest /
outage downtime / outcome result / own possess / owner proprietor / parameter param / parcel package / pay payment /
penalty fine / permanently irrevocably / petrol gasoline / phase stage / phone telephone / potent powerful /
prefer favor / previous prior / price cost / profit earnings / proof evidence / propose suggest recommend /
protect guard shield / publish release publication / pulmonary lung / pupil student / questionnaire survey /
quickly rapidly swiftly / quit resign / rainfall precipitation rain / randomly arbitrarily / rare uncommon unusual /
rebuild reconstruct / recover recovery / reduce lower decrease cut diminish fall decline lessen curb reduction /
refund reimburse / refuse reject / register registration / regularly routinely / relay forward /
reliable dependable trustworthy / remain stay / remember recall / renal kidney / replace substitute /
replicate replica / reside live dwell inhabit / resist withstand / restart reboot / revenue turnover / rich wealthy /
robust resilient / rule regulation / run execute perform conduct operate / rust corrode / salary wage /
sample specimen / satisfy fulfil / schedule plan / sell sale /
send transmit dispatch ship transmission delivery deliver / separately individually independently /
series sequence succession / serious severe / set configure / shareholder stockholder / sharply steeply / shine glow /
shortage lack scarcity / shortly soon / show demonstrate display reveal indicate exhibit present / sick ill /
significantly substantially considerably markedly / silently quietly / simultaneously concurrently /
slightly marginally / smart clever intelligent / smell odour odor / smooth even / soak immerse submerge / soil earth /
solve resolve solution resolution / speak talk / spread distribute / stable steady /
staff employee personnel workforce / sticky adhesive / stop halt terminate cease abort /
strengthen reinforce / strict rigorous / submit submission / subscribe subscription / summary overview /
supplier vendor / suspend pause / teach instruct / tear rip / temporary provisional / tenant renter /
therapy treatment / total overall / toxic poisonous / transparent clear / traveller passenger / trend tendency /
urgent pressing / use employ leverage consume consumption /
vaccinate immunise immunize inoculate / variety diversity / vibrate oscillate / violate breach infringe / weak feeble /
weigh weight / wood timber / woodland forest / worsen deteriorate / wrong incorrect
"""


def rows(table: str) -> list[list[str]]:
    """The rows of a table, which slashes part."""
    return [row.split() for row in table.split("/")]


_stem = Stemmer.Stemmer("english").stemWord
FORMS = {word: first for first, *others in rows(_FORMS) for word in (first, *others)}
"""A word to the form that it counts as."""
SYNONYMS = {_stem(word): _stem(first) for first, *others in rows(_SYNONYMS) for word in (first, *others)}
"""A stem to the stem that it counts as where synonyms are folded."""
