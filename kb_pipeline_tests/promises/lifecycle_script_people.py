"""What people do to items while sources go on changing, and what should be known after each of it: a person's words and
decisions hold through everything, and bring back nothing that is gone."""

from kb_pipeline_tests.promises.lifecycle_corpus import (
    DOCUMENTS,
    EXPIRY,
    LOGS,
    OUTAGE,
    PRIYA,
    QUARANTINE,
    RACK,
    SCORE,
    TAKEOVER,
    VAULT,
)
from kb_pipeline_tests.promises.lifecycle_edits import Move, Remove, Step, Swap, Write
from kb_pipeline_tests.promises.lifecycle_people import (
    Decide,
    EditItem,
    HideItem,
    Purge,
    Readmit,
    RestoreItem,
    RetireItem,
    WriteItem,
    id_of,
)

_RACK_BETTER = "The archive host sits in the second rack from the door."
_WENT_ON = "The outage went on for 47 minutes."
_LOGS_30 = "The team keeps mail logs for 30 days."
_TAKEOVER_9 = "The standby takes over after 9 missed heartbeats."
_WRITTEN = "We agreed that every replica keeps two copies of its journal."

PEOPLE = (
    Step(
        "reword an item",
        (EditItem(RACK, "statement", _RACK_BETTER),),
        gone=(RACK,),
        new={_RACK_BETTER: "notes/archive.txt"},
        embedded=0,
        about=("notes/archive.txt",),
    ),
    Step("text above what it rests on", (Swap("notes/archive.txt", RACK, f"# Hosts\n\n{RACK}"),)),
    Step(
        "what it rests on moves",
        (Move("notes/archive.txt", "runbooks/archive.txt"),),
        moved={"notes/archive.txt": "runbooks/archive.txt"},
    ),
    Step(
        "what it rests on goes",
        (Swap("runbooks/archive.txt", RACK, ""),),
        gone=(_RACK_BETTER,),
    ),
    Step(
        "and comes back",
        (Swap("runbooks/archive.txt", "# Hosts", f"# Hosts\n\n{RACK}"),),
        new={_RACK_BETTER: "runbooks/archive.txt"},
        embedded=0,
    ),
    Step(
        "file an item elsewhere",
        (EditItem(VAULT, "primary_category", "Operations"),),
        about=("runbooks/backup.md",),
    ),
    Step(
        "its document is copied",
        (Write("notes/backup.md", f"# Copy\n\n{VAULT}\n"),),
        cites={VAULT: "runbooks/backup.md notes/backup.md"},
    ),
    Step(
        "another wording that no rule merges",
        (Write("notes/outage.md", f"# Outage\n\n{_WENT_ON}\n"),),
        new={_WENT_ON: "notes/outage.md"},
    ),
    Step(
        "a person merges the two",
        (Decide("merge", _WENT_ON, OUTAGE),),
        gone=(OUTAGE,),
        cites={_WENT_ON: "notes/outage.md notes/postmortem.md"},
        about=("notes/outage.md", "notes/postmortem.md"),
    ),
    Step(
        "one of the two goes",
        (Swap("notes/postmortem.md", f" {OUTAGE}", ""),),
        cites={_WENT_ON: "notes/outage.md"},
    ),
    Step(
        "and comes back in another document",
        (Swap("runbooks/disk.md", "# Disk\n", f"# Disk\n\n{OUTAGE}\n"),),
        cites={_WENT_ON: "notes/outage.md runbooks/disk.md"},
    ),
    Step(
        "a contradiction",
        (Write("runbooks/logs.md", f"# Logs\n\n{_LOGS_30}\n"),),
        new={_LOGS_30: "runbooks/logs.md"},
        clash=((LOGS, _LOGS_30),),
    ),
    Step(
        "a person says which is newer",
        (Decide("supersede", _LOGS_30, LOGS),),
        older={LOGS: _LOGS_30},
        about=("runbooks/logs.md", "notes/meeting.md"),
    ),
    Step("the newer one goes", (Remove("runbooks/logs.md"),), gone=(_LOGS_30,), new={LOGS: "notes/meeting.md"}),
    Step(
        "and comes back elsewhere",
        (Write("notes/logs.md", f"# Logs\n\n{_LOGS_30}\n"),),
        new={_LOGS_30: "notes/logs.md"},
        older={LOGS: _LOGS_30},
    ),
    Step(
        "a contradiction that is none",
        (Write("notes/standby.md", f"# Standby\n\n{_TAKEOVER_9}\n"),),
        new={_TAKEOVER_9: "notes/standby.md"},
        clash=((TAKEOVER, _TAKEOVER_9),),
    ),
    Step(
        "a person keeps both",
        (Decide("keep", TAKEOVER, _TAKEOVER_9),),
        settled=((TAKEOVER, _TAKEOVER_9),),
        about=("notes/standby.md", "runbooks/failover.md"),
    ),
    Step(
        "and its document moves",
        (Move("notes/standby.md", "runbooks/standby.md"),),
        moved={"notes/standby.md": "runbooks/standby.md"},
    ),
    Step("delete the file of an item", (HideItem(PRIYA),), gone=(PRIYA,)),
    Step("it is stated elsewhere too", (Write("notes/owners.md", f"# Owners\n\n{PRIYA}\n"),)),
    Step(
        "restore it",
        (RestoreItem(PRIYA),),
        new={PRIYA: "notes/meeting.md notes/owners.md"},
        embedded=0,
        about=("notes/meeting.md",),
    ),
    Step("retire an item", (RetireItem(EXPIRY),), gone=(EXPIRY,), about=("runbooks/certificates.md",)),
    Step("its document changes", (Swap("runbooks/certificates.md", "# Certificates", "# TLS"),)),
    Step(
        "restore that one too",
        (RestoreItem(EXPIRY),),
        new={EXPIRY: "runbooks/certificates.md"},
        embedded=0,
        about=("runbooks/certificates.md",),
    ),
    Step(
        "write an item by hand",
        (WriteItem("operations/agreed.json", _WRITTEN),),
        new={_WRITTEN: f"human/{id_of(_WRITTEN)}"},
        redone=0,
    ),
    Step(
        "a source states the same",
        (Write("notes/journal.md", f"# Journal\n\n{_WRITTEN}\n"),),
        cites={_WRITTEN: f"human/{id_of(_WRITTEN)} notes/journal.md"},
    ),
    Step(
        "purge a document",
        (Remove("notes/spam.md"), Purge("notes/spam.md")),
        gone=(SCORE, QUARANTINE),
    ),
    Step(
        "a text that says nothing",
        (Swap("notes/words.md", "# Words", "# Before\n\nNothing.\n\n# Words"),),
        filed=9,  # a purge keeps the vectors of statements and questions alone
    ),
    Step("the purged document is there again", (Write("notes/spam.md", DOCUMENTS["notes/spam.md"]),), redone=0),
    Step(
        "and is let in",
        (Readmit("notes/spam.md"),),
        new={SCORE: "notes/spam.md", QUARANTINE: "notes/spam.md"},
        redone=1,
        embedded=2,
        about=("notes/spam.md",),
    ),
)
