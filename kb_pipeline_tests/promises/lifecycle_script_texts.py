"""What people do to the words of documents, and what should be known after each edit. Written by thinking of what a
reader of the sources would say, never by recording what a build said."""

from kb_pipeline_tests.promises.lifecycle_corpus import (
    ADDRESS,
    BOUNCE,
    DISK,
    DOCUMENTS,
    DRAIN,
    GREYLIST,
    LOGS,
    OUTAGE,
    PAUSE,
    PRIYA,
    QUARANTINE,
    QUEUE,
    RACK,
    RENEWAL,
    ROTATION,
    SCORE,
    SNAPSHOTS,
    TAKEOVER,
    VAULT,
)
from kb_pipeline_tests.promises.lifecycle_edits import Remove, Revert, Step, Swap, Write

_AS_AT_FIRST = (Revert(DOCUMENTS),)

_SENDS = "The nightly backup sends every volume to the safe."
_SNAPSHOTS_30 = "The vault keeps 30 daily snapshots."
_DISK_GIB = "A mail host needs 80 GiB of disk."
_PUBLIC = "The archive host has a public address."
_SHOUTED = "Priya owns the vault migration!"
_WARM = "The archive host reaches 41 degrees in summer."
_JOINED = "The spam filter scores each message between 0 and 100, and a message above 80 goes to quarantine."

WORDS = (
    Step(
        "reword a sentence",
        (Swap("runbooks/backup.md", VAULT, _SENDS),),
        gone=(VAULT,),
        new={_SENDS: "runbooks/backup.md"},
    ),
    Step(
        "renumber a sentence",
        (Swap("runbooks/backup.md", "35 daily", "30 daily"),),
        gone=(SNAPSHOTS,),
        new={_SNAPSHOTS_30: "runbooks/backup.md"},
    ),
    Step(
        "another unit",
        (Swap("runbooks/disk.md", "80 GB", "80 GiB"),),
        gone=(DISK,),
        new={_DISK_GIB: "runbooks/disk.md"},
    ),
    Step(
        "say the contrary",
        (Swap("notes/archive.txt", "no public", "a public"),),
        gone=(ADDRESS,),
        new={_PUBLIC: "notes/archive.txt"},
    ),
    Step(
        "revert the last four",
        _AS_AT_FIRST,
        gone=(_SENDS, _SNAPSHOTS_30, _DISK_GIB, _PUBLIC),
        new={
            VAULT: "runbooks/backup.md",
            SNAPSHOTS: "runbooks/backup.md",
            DISK: "runbooks/disk.md",
            ADDRESS: "notes/archive.txt",
        },
        redone=3,
        embedded=0,
    ),
    Step("break a line elsewhere", (Swap("runbooks/backup.md", "writes every", "writes\nevery"),)),
    Step("another heading", (Swap("runbooks/backup.md", "## Restore", "## How to get a volume back"),)),
    Step("a deeper heading", (Swap("runbooks/failover.md", "## Who", "### Who"),)),
    Step("the other order", (Write("runbooks/disk.md", f"# Disk\n\n{ROTATION}\n\n{DISK}\n"),)),
    Step("the same paragraph twice", (Write("notes/words.md", f"# Words\n\n{BOUNCE}\n\n{BOUNCE}\n\n{GREYLIST}\n"),)),
    Step(
        "and under another heading",
        (Swap("notes/words.md", f"{BOUNCE}\n\n{GREYLIST}", f"## B\n\n{BOUNCE}"),),
        gone=(GREYLIST,),
    ),
    Step(
        "louder",
        (Swap("notes/meeting.md", PRIYA, _SHOUTED),),
        gone=(PRIYA,),
        new={_SHOUTED: "notes/meeting.md"},
        embedded=0,
    ),
    Step("two sentences in one", (Swap("notes/spam.md", f"{SCORE} {QUARANTINE}", _JOINED),)),
    Step("text above", (Swap("notes/spam.md", "# Filtering", "# Before\n\nNothing.\n\n# Filtering"),)),
    Step(
        "one sentence more",
        (Swap("notes/archive.txt", RACK, f"{RACK} {_WARM}"),),
        new={_WARM: "notes/archive.txt"},
    ),
)

FORMS = (
    Step("blanks at the ends of lines", (Swap("runbooks/queue.md", ".\n", ".   \n"),), redone=0),
    Step("two blanks after a sentence", (Swap("runbooks/failover.md", f"{TAKEOVER} ", f"{TAKEOVER}  "),)),
    Step(
        "line ends of Windows",
        (Write("notes/load-test.md", DOCUMENTS["notes/load-test.md"].replace("\n", "\r\n")),),
        redone=0,
    ),
    Step("UTF-16", (Write("notes/archive.txt", DOCUMENTS["notes/archive.txt"].encode("utf-16")),), redone=0),
    Step(
        "a byte order mark",
        (Write("notes/archive.txt", b"\xef\xbb\xbf" + DOCUMENTS["notes/archive.txt"].encode()),),
        redone=0,
    ),
    Step(
        "a date of its own",
        (Write("notes/spam.md", f"---\ndate: 2026-02-02\n---\n{DOCUMENTS['notes/spam.md']}"),),
        redone=0,
    ),
    Step("emptied", (Write("notes/meeting.md", ""),), gone=(LOGS, PRIYA)),
    Step("a title without a text", (Write("notes/meeting.md", "# Decisions\n"),)),
    Step(
        "filled again",
        (Write("notes/meeting.md", DOCUMENTS["notes/meeting.md"]),),
        new={LOGS: "notes/meeting.md", PRIYA: "notes/meeting.md"},
        embedded=0,
    ),
    Step(
        "a list in place of a paragraph",
        (
            Write(
                "runbooks/certificates.md",
                f"# Certificates\n\n- The relay certificate expires after 397 days.\n- {RENEWAL}\n",
            ),
        ),
    ),
    Step(
        "bold and linked words",
        (Swap("notes/postmortem.md", "A stale DNS record", "A **stale** [DNS record](https://example.org/dns)"),),
    ),
    Step(
        "one paragraph fewer",
        (Swap("notes/postmortem.md", f" {OUTAGE}", ""),),
        gone=(OUTAGE,),
    ),
    Step("deleted", (Remove("runbooks/queue.md"),), gone=(DRAIN, QUEUE), cites={PAUSE: "notes/load-test.md"}),
    Step(
        "back as it was at first",
        _AS_AT_FIRST,
        new={
            OUTAGE: "notes/postmortem.md",
            DRAIN: "runbooks/queue.md",
            QUEUE: "runbooks/queue.md",
        },
        cites={PAUSE: "runbooks/queue.md notes/load-test.md"},
        redone=4,
        embedded=0,
    ),
)
