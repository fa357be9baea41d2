"""What becomes of one fact in several places: witnesses, wordings, contradictions, versions and dates; and what should
be known after each edit."""

from kb_pipeline_tests.promises.lifecycle_corpus import (
    ADDRESS,
    CONFIG,
    DISK,
    DOCUMENTS,
    MIME,
    OPEN_8,
    OPEN_12,
    OPEN_20,
    PASSWORD_90,
    PASSWORD_180,
    PAUSE,
    RETRY,
    TAKEOVER,
    release,
)
from kb_pipeline_tests.promises.lifecycle_edits import Move, Remove, Step, Swap, Write

_RETRY_FIRST = "Every 15 minutes, the relay retries a deferred message."
_TAKEOVER_4 = "The standby takes over after 4 missed heartbeats."
_PUBLIC = "The archive host has a public address."
_DISK_MB = "A mail host needs 80 MB of disk."
_DISK_WEB = "A web host needs 80 GB of disk."
_OPEN_16 = "The relay opens 16 connections to a receiving server by default."
_OPEN_32 = "The relay opens 32 connections to a receiving server by default."
_LATEST_20 = "The latest stable version of Tern is 2.0."
_LATEST_21 = "The latest stable version of Tern is 2.1."

WITNESSES = (
    Step(
        "a third witness",
        (Swap("notes/spam.md", "# Filtering\n", f"# Filtering\n\n{PAUSE}\n"),),
        cites={PAUSE: "runbooks/queue.md notes/load-test.md notes/spam.md"},
    ),
    Step(
        "a fuller wording of the same",
        (Swap("notes/meeting.md", "# Decisions\n", f"# Decisions\n\n{_RETRY_FIRST}\n"),),
        gone=(RETRY,),
        new={_RETRY_FIRST: "releases/tern-1.0.md notes/meeting.md"},
    ),
    Step(
        "the first wording goes",
        (Swap("releases/tern-1.0.md", RETRY, ""),),
        cites={_RETRY_FIRST: "notes/meeting.md"},
    ),
    Step(
        "the first wording returns in a third place",
        (Swap("notes/words.md", "# Words\n", f"# Words\n\n{RETRY}\n"),),
        cites={_RETRY_FIRST: "notes/meeting.md notes/words.md"},
    ),
    Step(
        "the fuller wording goes",
        (Swap("notes/meeting.md", f"\n{_RETRY_FIRST}\n", ""),),
        gone=(_RETRY_FIRST,),
        new={RETRY: "notes/words.md"},
    ),
    Step(
        "a witness moves",
        (Move("notes/spam.md", "runbooks/spam.md"),),
        moved={"notes/spam.md": "runbooks/spam.md"},
    ),
    Step(
        "two of three witnesses go",
        (Remove("notes/load-test.md"), Swap("runbooks/queue.md", f" {PAUSE}", "")),
        gone=("The load test reached 1400 messages per second on one host.",),
        cites={PAUSE: "runbooks/spam.md"},
    ),
    Step(
        "one of two witnesses contradicts",
        (Swap("notes/postmortem.md", "3 missed", "4 missed"),),
        new={_TAKEOVER_4: "notes/postmortem.md"},
        cites={TAKEOVER: "runbooks/failover.md"},
        clash=((TAKEOVER, _TAKEOVER_4),),
    ),
    Step(
        "the other follows",
        (Swap("runbooks/failover.md", "3 missed", "4 missed"),),
        gone=(TAKEOVER,),
        cites={_TAKEOVER_4: "runbooks/failover.md notes/postmortem.md"},
    ),
    Step(
        "the contrary in another source",
        (Swap("runbooks/disk.md", "# Disk\n", f"# Disk\n\n{_PUBLIC}\n"),),
        new={_PUBLIC: "runbooks/disk.md"},
        clash=((ADDRESS, _PUBLIC),),
    ),
    Step(
        "both in one document",
        (Swap("notes/archive.txt", ADDRESS, f"{ADDRESS} {_PUBLIC}"),),
        cites={_PUBLIC: "runbooks/disk.md notes/archive.txt"},
        settled=((ADDRESS, _PUBLIC),),
    ),
    Step(
        "apart again",
        (Swap("notes/archive.txt", f"{ADDRESS} {_PUBLIC}", ADDRESS),),
        cites={_PUBLIC: "runbooks/disk.md"},
        clash=((ADDRESS, _PUBLIC),),
    ),
    Step(
        "one side withdraws",
        (Swap("runbooks/disk.md", f"\n{_PUBLIC}\n", ""),),
        gone=(_PUBLIC,),
    ),
    Step(
        "another unit in another source",
        (Swap("notes/words.md", "# Words\n", f"# Words\n\n{_DISK_MB}\n"),),
        new={_DISK_MB: "notes/words.md"},
        clash=((DISK, _DISK_MB),),
    ),
    Step(
        "another thing instead",
        (Swap("notes/words.md", _DISK_MB, _DISK_WEB),),
        gone=(_DISK_MB,),
        new={_DISK_WEB: "notes/words.md"},
    ),
)

VERSIONS = (
    Step(
        "a new version",
        (Write("releases/tern-2.1.md", release("Tern", "2026-05-04", _OPEN_32)),),
        gone=(),
        new={_OPEN_32: "releases/tern-2.1.md"},
        older={OPEN_8: _OPEN_32, OPEN_12: _OPEN_32, OPEN_20: _OPEN_32},
    ),
    Step(
        "the new version is withdrawn",
        (Remove("releases/tern-2.1.md"),),
        gone=(_OPEN_32,),
        new={OPEN_20: "releases/tern-2.0.md"},
        older={OPEN_8: OPEN_20, OPEN_12: OPEN_20},
    ),
    Step(
        "a version in the middle goes",
        (Remove("releases/tern-1.1.md"),),
        gone=(MIME,),
        dropped=(OPEN_12,),
    ),
    Step(
        "and comes back under its old name",
        (Write("releases/tern-1.1.md", DOCUMENTS["releases/tern-1.1.md"]),),
        new={MIME: "releases/tern-1.1.md"},
        older={OPEN_12: OPEN_20},
        embedded=0,
    ),
    Step(
        "an old value comes back in a new version",
        (Write("releases/tern-2.1.md", release("Tern", "2026-05-04", OPEN_12)),),
        new={OPEN_12: "releases/tern-1.1.md releases/tern-2.1.md"},
        older={OPEN_8: OPEN_12, OPEN_20: OPEN_12},
    ),
    Step(
        "the newest version loses the sentence",
        (Write("releases/tern-2.1.md", release("Tern", "2026-05-04", "The relay logs every refused message.")),),
        new={OPEN_20: "releases/tern-2.0.md", "The relay logs every refused message.": "releases/tern-2.1.md"},
        older={OPEN_8: OPEN_20, OPEN_12: OPEN_20},
    ),
    Step(
        "a version takes another number and date",
        (
            Move("releases/tern-1.1.md", "releases/tern-2.2.md"),
            Swap("releases/tern-2.2.md", "date: 2025-06-16", "date: 2026-08-01"),
        ),
        new={OPEN_12: "releases/tern-2.2.md"},
        older={OPEN_8: OPEN_12, OPEN_20: OPEN_12},
        moved={"releases/tern-1.1.md": "releases/tern-2.2.md"},
    ),
    Step(
        "a version leaves its line",
        (Move("releases/tern-2.2.md", "releases/outlook.md"),),
        new={OPEN_20: "releases/tern-2.0.md"},
        cites={OPEN_12: "releases/outlook.md"},
        older={OPEN_8: OPEN_20},
        moved={"releases/tern-2.2.md": "releases/outlook.md"},
        clash=((OPEN_12, OPEN_20),),
    ),
    Step(
        "a note contradicts",
        (Write("notes/connections.md", f"# Connections\n\n{_OPEN_16}\n"),),
        new={_OPEN_16: "notes/connections.md"},
        clash=((OPEN_12, _OPEN_16), (OPEN_20, _OPEN_16)),
    ),
    Step(
        "the note and the outlook go",
        (Remove("notes/connections.md"), Remove("releases/outlook.md")),
        gone=(_OPEN_16, OPEN_12, MIME),
    ),
    Step(
        "number and date of a version disagree",
        (Swap("releases/tern-2.0.md", "date: 2026-01-19", "date: 2024-01-19"),),
        new={OPEN_8: "releases/tern-1.0.md"},
        clash=((OPEN_8, OPEN_20),),
        redone=0,
    ),
    Step(
        "and agree again",
        (Swap("releases/tern-2.0.md", "date: 2024-01-19", "date: 2026-01-19"),),
        older={OPEN_8: OPEN_20},
        redone=0,
    ),
    Step(
        "the dates of two versions change sides",
        (Swap("releases/policy-2026-03.md", "date: 2026-03-01", "date: 2024-03-01"),),
        new={PASSWORD_90: "releases/policy-2025-03.md"},
        older={PASSWORD_180: PASSWORD_90},
        redone=0,
    ),
    Step(
        "a date goes",
        (Swap("releases/policy-2026-03.md", "date: 2024-03-01\n", ""),),
        new={PASSWORD_180: "releases/policy-2026-03.md"},
        clash=((PASSWORD_90, PASSWORD_180),),
        redone=0,
    ),
    Step(
        "and comes back right",
        (Write("releases/policy-2026-03.md", DOCUMENTS["releases/policy-2026-03.md"]),),
        older={PASSWORD_90: PASSWORD_180},
        redone=0,
    ),
    Step(
        "a version stated in the text",
        (
            Swap("notes/words.md", "# Words\n", f"# Words\n\n{_LATEST_20}\n"),
            Swap("runbooks/disk.md", "# Disk\n", f"# Disk\n\n{_LATEST_21}\n"),
        ),
        new={_LATEST_21: "runbooks/disk.md"},
        older={_LATEST_20: _LATEST_21},
    ),
    Step(
        "the newer statement goes",
        (Swap("runbooks/disk.md", f"\n{_LATEST_21}\n", ""),),
        gone=(_LATEST_21,),
        new={_LATEST_20: "notes/words.md"},
    ),
    Step(
        "all releases go but the first",
        (Remove("releases/tern-2.0.md"), Remove("releases/tern-2.1.md")),
        gone=(OPEN_20, CONFIG, "The relay logs every refused message."),
        new={OPEN_8: "releases/tern-1.0.md"},
    ),
)
