"""What people do to files, sources and the registry, and what should be known after each of it."""

from kb_pipeline_tests.promises.lifecycle_corpus import (
    ACTIVE,
    ADDRESS,
    APPROVAL,
    BOUNCE,
    DOCUMENTS,
    EXPIRY,
    GREYLIST,
    HEARTBEAT,
    LOAD,
    LOGS,
    PRIYA,
    QUARANTINE,
    RACK,
    RENEWAL,
    RESTORE,
    RESTORE_TIME,
    SCORE,
    SNAPSHOTS,
    TAKEOVER,
    VAULT,
)
from kb_pipeline_tests.promises.lifecycle_edits import Copy, Move, Remove, Rename, Step, Swap, Write

_BACKUP = DOCUMENTS["runbooks/backup.md"]
_HALVES = _BACKUP.partition("## Restore")
_CERTIFICATES = DOCUMENTS["runbooks/certificates.md"]
_LOAD_1500 = "The load test reached 1500 messages per second on one host."
_EMPTY = "The mail room closes at noon."

PLACES = (
    Step("rename", (Move("runbooks/disk.md", "runbooks/disks.md"),), moved={"runbooks/disk.md": "runbooks/disks.md"}),
    Step("move to a folder", (Move("notes/spam.md", "notes/in/spam.md"),), moved={"notes/spam.md": "notes/in/spam.md"}),
    Step(
        "rename the folder",
        (Rename("notes/in", "notes/filters"),),
        moved={"notes/in/spam.md": "notes/filters/spam.md"},
    ),
    Step(
        "move to another source",
        (Move("notes/words.md", "runbooks/words.md"),),
        moved={"notes/words.md": "runbooks/words.md"},
    ),
    Step(
        "move and edit at once",
        (Move("notes/load-test.md", "notes/load.md"), Swap("notes/load.md", "1400", "1500")),
        gone=(LOAD,),
        new={_LOAD_1500: "notes/load.md"},
        moved={"notes/load-test.md": "notes/load.md"},
    ),
    Step(
        "two files change names",
        (
            Move("runbooks/disks.md", "runbooks/x.md"),
            Move("runbooks/words.md", "runbooks/disks.md"),
            Move("runbooks/x.md", "runbooks/words.md"),
        ),
        moved={"runbooks/disks.md": "runbooks/words.md", "runbooks/words.md": "runbooks/disks.md"},
    ),
    Step(
        "split a file",
        (
            Write("runbooks/backup.md", _HALVES[0]),
            Write("runbooks/restore.md", f"## Restore{_HALVES[2]}"),
        ),
        cites={RESTORE: "runbooks/restore.md", RESTORE_TIME: "runbooks/restore.md"},
    ),
    Step(
        "merge two files",
        (Swap("runbooks/restore.md", "minutes.\n", f"minutes.\n\n{_CERTIFICATES}"), Remove("runbooks/certificates.md")),
        cites={EXPIRY: "runbooks/restore.md", RENEWAL: "runbooks/restore.md"},
    ),
    Step(
        "copy to another source",
        (Copy("notes/meeting.md", "runbooks/meeting.md"),),
        cites={LOGS: "notes/meeting.md runbooks/meeting.md", PRIYA: "notes/meeting.md runbooks/meeting.md"},
    ),
    Step(
        "copy beside itself",
        (Copy("runbooks/backup.md", "runbooks/backup-copy.md"),),
        cites={
            VAULT: "runbooks/backup.md runbooks/backup-copy.md",
            SNAPSHOTS: "runbooks/backup.md runbooks/backup-copy.md",
        },
    ),
    Step(
        "delete the original of a copy",
        (Remove("notes/meeting.md"), Remove("runbooks/backup.md")),
        cites={
            LOGS: "runbooks/meeting.md",
            PRIYA: "runbooks/meeting.md",
            VAULT: "runbooks/backup-copy.md",
            SNAPSHOTS: "runbooks/backup-copy.md",
        },
    ),
    Step(
        "another extension",
        (Move("runbooks/disks.md", "runbooks/words.txt"),),
        moved={"runbooks/disks.md": "runbooks/words.txt"},
    ),
    Step(
        "a name beyond ASCII",
        (Move("runbooks/failover.md", "runbooks/Übernahme – 引継ぎ.md"),),
        moved={"runbooks/failover.md": "runbooks/Übernahme – 引継ぎ.md"},
    ),
    Step(
        "a folder in place of a file",
        (Remove("notes/archive.txt"), Write("notes/archive.txt/hosts.md", DOCUMENTS["notes/archive.txt"])),
        moved={"notes/archive.txt": "notes/archive.txt/hosts.md"},
    ),
    Step(
        "a file in place of a folder",
        (Remove("notes/filters/spam.md"), Remove("notes/filters"), Write("notes/filters", DOCUMENTS["notes/spam.md"])),
        moved={"notes/filters/spam.md": "notes/filters"},
    ),
    Step(
        "delete three",
        (Remove("runbooks/Übernahme – 引継ぎ.md"), Remove("runbooks/words.txt"), Remove("notes/archive.txt/hosts.md")),
        gone=(HEARTBEAT, APPROVAL, BOUNCE, GREYLIST, RACK, ADDRESS),
        cites={TAKEOVER: "notes/postmortem.md"},
    ),
    Step(
        "restore two of them elsewhere",
        (
            Write("notes/failover.md", DOCUMENTS["runbooks/failover.md"]),
            Write("notes/words.md", DOCUMENTS["notes/words.md"]),
        ),
        new={
            HEARTBEAT: "notes/failover.md",
            APPROVAL: "notes/failover.md",
            BOUNCE: "notes/words.md",
            GREYLIST: "notes/words.md",
        },
        cites={TAKEOVER: "notes/failover.md notes/postmortem.md"},
        embedded=0,
    ),
)

_NOTES = "  - {id: notes, type: local, uri: notes, license: CC0-1.0}\n"
_POST = "  - {id: post, type: local, uri: post, license: CC0-1.0}\n"
_IN_NOTES = {name for name in DOCUMENTS if name.startswith("notes/")}


def _mirrored(docs: str) -> str:
    """``docs`` and the same documents of a second source over the folder of notes."""
    return " ".join([*docs.split(), *(doc.replace("notes/", "mirror/") for doc in docs.split() if doc in _IN_NOTES)])


_OF_NOTES = {s: docs for s, docs in ACTIVE.items() if not _IN_NOTES.isdisjoint(docs.split())}
_OF_NOTES_ALONE = {s: docs for s, docs in _OF_NOTES.items() if _IN_NOTES.issuperset(docs.split())}
_SHARED = {s: docs for s, docs in _OF_NOTES.items() if s not in _OF_NOTES_ALONE}

REGISTRY = (
    Step(
        "add a source",
        (Write("post/room.md", f"# Room\n\n{_EMPTY}\n\n{TAKEOVER}\n"), Swap("sources.yaml", _NOTES, _NOTES + _POST)),
        new={_EMPTY: "post/room.md"},
        cites={TAKEOVER: "runbooks/failover.md notes/postmortem.md post/room.md"},
    ),
    Step("a comment in the registry", (Swap("sources.yaml", "sources:", "# who writes what\nsources:"),)),
    Step(
        "another licence",
        (Swap("sources.yaml", "uri: post, license: CC0-1.0", "uri: post, license: CC-BY-4.0"),),
        about=("post/room.md",),
        redone=0,
    ),
    Step(
        "a source under another name",
        (Swap("sources.yaml", "{id: post,", "{id: mailroom,"),),
        moved={"post/room.md": "mailroom/room.md"},
    ),
    Step(
        "a source in another folder",
        (Rename("post", "office"), Swap("sources.yaml", "uri: post,", "uri: office,")),
        redone=0,
    ),
    Step(
        "remove a source from the registry",
        (Swap("sources.yaml", _NOTES, ""),),
        gone=tuple(_OF_NOTES_ALONE),
        cites={
            TAKEOVER: "runbooks/failover.md mailroom/room.md",
            "The relay pauses intake when the outbound queue is full.": "runbooks/queue.md",
        },
    ),
    Step(
        "and add it again",
        (Swap("sources.yaml", "sources:\n", f"sources:\n{_NOTES}"),),
        new=_OF_NOTES_ALONE,
        cites={**_SHARED, TAKEOVER: f"{_SHARED[TAKEOVER]} mailroom/room.md"},
        embedded=0,
    ),
    Step(
        "leave a file out",
        (Swap("sources.yaml", "uri: notes,", "uri: notes, exclude: [spam.md],"),),
        gone=(SCORE, QUARANTINE),
    ),
    Step(
        "and let it in again",
        (Swap("sources.yaml", " exclude: [spam.md],", ""),),
        new={SCORE: "notes/spam.md", QUARANTINE: "notes/spam.md"},
        embedded=0,
    ),
    Step(
        "a second source over the same folder",
        (Swap("sources.yaml", _NOTES, _NOTES + _NOTES.replace("id: notes", "id: mirror")),),
        cites={
            **{s: _mirrored(docs) for s, docs in _OF_NOTES.items()},
            TAKEOVER: f"{_mirrored(_OF_NOTES[TAKEOVER])} mailroom/room.md",
        },
    ),
    Step(
        "one of the two alone",
        (Swap("sources.yaml", _NOTES, ""),),
        moved={name: name.replace("notes/", "mirror/") for name in _IN_NOTES},
        redone=0,
    ),
    Step(
        "a category under another name",
        (Swap("taxonomy.yaml", "name: Storage", "name: Vaults & Disks"),),
        about=tuple(doc.replace("notes/", "mirror/") for doc in DOCUMENTS),
        redone=0,
        filed=1,
    ),
)
