"""One partition a source, added and removed by the sensor."""

import dagster as dg

SOURCES = dg.DynamicPartitionsDefinition(name="source")
FULL = "kb/full"  # run tag: trust no stat and no stamp
ACCEPT_DELETIONS = "kb/accept-deletions"  # run tag: a person confirmed a sudden loss
