"""How an error of ours ends a step: told with its cure, tried again only where it may pass by itself."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from kb_pipeline.defs.run_tags import PROCESS
from kb_pipeline.errors import KbError

# Applied here rather than declared on the assets: a declared policy also retries what a person interrupts.
RETRY = dg.RetryPolicy(max_retries=2, delay=2, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)


@contextmanager
def told(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> Iterator[None]:
    """Fail the step at once on an error that says its cure; retry any other, but not under a person's eyes."""
    try:
        yield
    except KbError as error:
        shown = {"code": error.code, "cure": error.cure or "See `kb status`."}
        raise dg.Failure(str(error), metadata=shown, allow_retries=False) from None
    except Exception as error:
        if PROCESS in context.run.tags:
            raise
        wait = RETRY.calculate_delay(context.retry_number + 1)
        raise dg.RetryRequested(max_retries=RETRY.max_retries, seconds_to_wait=wait) from error
