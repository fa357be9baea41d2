"""A small handbook of our own writing, with everything that a promise is about."""

CACHE = """# Block cache

The block cache keeps 16 pages of 4 KB in memory. A page is evicted after 20 minutes without a read.

## Warm-up

The cache is filled by the command `cachectl warm --all` before a replica takes traffic.
"""

LIMITS = """# Limits

The gateway accepts at most 512 connections at once. The gateway drops a request after 30 seconds.

The export job writes at most 900 rows per second.
"""

# The first sentence stands in CACHE too; the second one differs from one in LIMITS by a number, the third one by `not`.
GUIDE = """# Operating guide

The block cache keeps 16 pages of 4 KB in memory.

The gateway accepts at most 640 connections at once.

The scheduler retries a failed export job. The scheduler does not retry a failed export job.

A replica needs 12 GB of disk. A replica needs 12 MB of disk.
"""

RELEASE_1 = """---
title: Relay release notes
date: 2026-01-10
---
# Relay

The relay holds 64 messages in its queue by default.
"""

RELEASE_2 = """---
title: Relay release notes
date: 2026-03-02
---
# Relay

The relay holds 256 messages in its queue by default.
"""

DOCUMENTS = {
    "notes/cache.md": CACHE,
    "notes/limits.md": LIMITS,
    "handbook/guide.md": GUIDE,
    "handbook/relay-v1.0.md": RELEASE_1,
    "handbook/relay-v2.0.md": RELEASE_2,
}

TAXONOMY = """version: 1
categories:
  - name: Memory
    description: How the block cache holds, evicts and warms pages in memory.
    keywords: [cache, page, memory, evicted, warm, replica, disk]
  - name: Traffic
    description: What the gateway and the relay accept, queue and drop.
    keywords: [gateway, connections, request, relay, queue, messages]
  - name: Jobs
    description: What the scheduler and the export job do.
    keywords: [scheduler, export, job, retry, rows]
tags: {}
"""
