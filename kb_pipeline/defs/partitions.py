"""One partition a source, added and removed by whoever looks at ``sources.yaml``: the sensor, or ``kb build``."""

import dagster as dg

SOURCES = dg.DynamicPartitionsDefinition(name="source")
NAME = str(SOURCES.name)
