"""A small mail system of our own invention, told in sixteen documents of three sources: what its history starts from.

Every sentence has a name, so that the script of edits can speak of it; what is known of them all is written down by
hand.
"""

VAULT = "The nightly backup writes every volume to the vault."
SNAPSHOTS = "The vault keeps 35 daily snapshots."
RESTORE = "The command ternctl restore --latest restores a volume from the newest snapshot."
RESTORE_TIME = "A restore of one volume takes about 40 minutes."
TAKEOVER = "The standby takes over after 3 missed heartbeats."
HEARTBEAT = "The primary sends a heartbeat every 5 seconds."
APPROVAL = "The duty engineer approves a manual failover."
QUEUE = "The outbound queue holds 2000 messages per host."
PAUSE = "The relay pauses intake when the outbound queue is full."
DRAIN = "The command ternctl drain --wait empties the outbound queue before an upgrade."
DISK = "A mail host needs 80 GB of disk."
ROTATION = "The log partition is rotated at 90% usage."
EXPIRY = "The relay certificate expires after 397 days."
RENEWAL = "The renewal job runs on the first Monday of each month."
LOAD = "The load test reached 1400 messages per second on one host."
STALE = "A stale DNS record sent half of the mail to the old host."
OUTAGE = "The outage lasted 47 minutes."
SCORE = "The spam filter scores each message between 0 and 100."
QUARANTINE = "A message above 80 goes to quarantine."
LOGS = "The team keeps mail logs for 14 days."
PRIYA = "Priya owns the vault migration."
BOUNCE = "A bounce is a message that the receiving server refuses."
GREYLIST = "Greylisting delays the first message from an unknown sender."
RACK = "The archive host sits in the second rack."
ADDRESS = "The archive host has no public address."
OPEN_8 = "The relay opens 8 connections to a receiving server by default."
OPEN_12 = "The relay opens 12 connections to a receiving server by default."
OPEN_20 = "The relay opens 20 connections to a receiving server by default."
RETRY = "The relay retries a deferred message every 15 minutes."
MIME = "The parser rejects a message with more than 100 nested parts."
CONFIG = "The configuration file lives in /etc/tern/relay.toml."
PASSWORD_90 = "A mailbox password expires after 90 days."
PASSWORD_180 = "A mailbox password expires after 180 days."


def coded(statement: str, code: str) -> str:
    """``statement`` as its document has it, with ``code`` between backticks."""
    return statement.replace(code, f"`{code}`")


def release(title: str, date: str, *sections: str) -> str:
    """Release notes with a date of their own."""
    body = "\n\n".join(sections)
    return f"---\ntitle: {title}\ndate: {date}\n---\n# {title}\n\n{body}\n"


_RESTORE = coded(RESTORE, "ternctl restore --latest")
_DRAIN = coded(DRAIN, "ternctl drain --wait")
_CONFIG = coded(CONFIG, "/etc/tern/relay.toml")

DOCUMENTS: dict[str, str] = {
    "runbooks/backup.md": f"# Backups\n\n{VAULT} {SNAPSHOTS}\n\n## Restore\n\n{_RESTORE} {RESTORE_TIME}\n",
    "runbooks/failover.md": f"# Failover\n\n{TAKEOVER} {HEARTBEAT}\n\n## Who decides\n\n{APPROVAL}\n",
    "runbooks/queue.md": f"# Queue\n\n{QUEUE} {PAUSE}\n\n## Draining\n\n{_DRAIN}\n",
    "runbooks/disk.md": f"# Disk\n\n{DISK}\n\n{ROTATION}\n",
    "runbooks/certificates.md": f"# Certificates\n\n{EXPIRY}\n\n{RENEWAL}\n",
    "notes/load-test.md": f"# Load test\n\n{LOAD}\n\n{PAUSE}\n",
    "notes/postmortem.md": f"# What went wrong\n\n{STALE} {OUTAGE}\n\n## Failover\n\n{TAKEOVER}\n",
    "notes/spam.md": f"# Filtering\n\n{SCORE} {QUARANTINE}\n",
    "notes/meeting.md": f"# Decisions\n\n{LOGS}\n\n{PRIYA}\n",
    "notes/words.md": f"# Words\n\n{BOUNCE}\n\n{GREYLIST}\n",
    "notes/archive.txt": f"{RACK}\n\n{ADDRESS}\n",
    "releases/tern-1.0.md": release("Tern", "2025-02-03", OPEN_8, RETRY),
    "releases/tern-1.1.md": release("Tern", "2025-06-16", OPEN_12, MIME),
    "releases/tern-2.0.md": release("Tern", "2026-01-19", OPEN_20, _CONFIG),
    "releases/policy-2025-03.md": release("Policy", "2025-03-01", PASSWORD_90),
    "releases/policy-2026-03.md": release("Policy", "2026-03-01", PASSWORD_180),
}

ACTIVE: dict[str, str] = {
    VAULT: "runbooks/backup.md",
    SNAPSHOTS: "runbooks/backup.md",
    RESTORE: "runbooks/backup.md",
    RESTORE_TIME: "runbooks/backup.md",
    TAKEOVER: "runbooks/failover.md notes/postmortem.md",
    HEARTBEAT: "runbooks/failover.md",
    APPROVAL: "runbooks/failover.md",
    QUEUE: "runbooks/queue.md",
    PAUSE: "runbooks/queue.md notes/load-test.md",
    DRAIN: "runbooks/queue.md",
    DISK: "runbooks/disk.md",
    ROTATION: "runbooks/disk.md",
    EXPIRY: "runbooks/certificates.md",
    RENEWAL: "runbooks/certificates.md",
    LOAD: "notes/load-test.md",
    STALE: "notes/postmortem.md",
    OUTAGE: "notes/postmortem.md",
    SCORE: "notes/spam.md",
    QUARANTINE: "notes/spam.md",
    LOGS: "notes/meeting.md",
    PRIYA: "notes/meeting.md",
    BOUNCE: "notes/words.md",
    GREYLIST: "notes/words.md",
    RACK: "notes/archive.txt",
    ADDRESS: "notes/archive.txt",
    OPEN_20: "releases/tern-2.0.md",
    RETRY: "releases/tern-1.0.md",
    MIME: "releases/tern-1.1.md",
    CONFIG: "releases/tern-2.0.md",
    PASSWORD_180: "releases/policy-2026-03.md",
}
"""Each active statement and the documents that it cites."""

SUPERSEDED: dict[str, str] = {OPEN_8: OPEN_20, OPEN_12: OPEN_20, PASSWORD_90: PASSWORD_180}
"""Each superseded statement and the one that holds now."""

TAXONOMY = """version: 1
categories:
  - name: Mail flow
    description: How the relay queues, sends, filters, retries and refuses messages.
    keywords: [relay, message, queue, connections, sender, spam, bounce, mail]
  - name: Storage
    description: Backups, snapshots, volumes, disks, logs and archives.
    keywords: [backup, vault, snapshot, volume, disk, log, archive]
  - name: Operations
    description: Failover, certificates, passwords, releases and who decides.
    keywords: [failover, standby, heartbeat, certificate, password, engineer, outage, renewal]
tags: {}
"""
