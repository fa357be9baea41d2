"""Figures of the server itself, in Prometheus' text format. Knows no question and no user."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds in seconds; 0.2 is what a search has at most while the index is rebuilt."""
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Requests since this process began. Safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._under_way = 0

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Count a request while it is under way."""
        with self._guard:
            self._under_way += 1
        try:
            yield
        finally:
            with self._guard:
                self._under_way -= 1

    def observe(self, face: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        with self._guard:
            self._requests[face, method, status] += 1
            self._seconds[face] += seconds
            for bound in _BUCKETS:
                self._buckets[face, bound] += seconds <= bound

    def text(self, rows: Mapping[str, int], generation: str) -> str:
        """Everything as text; ``rows`` counts what ``generation`` holds by kind."""
        with self._guard:
            totals: Counter[str] = Counter()
            for (face, _, _), count in self._requests.items():
                totals[face] += count
            lines = ["# TYPE kb_requests_total counter"]
            lines += [
                f'kb_requests_total{{face="{face}",method="{method}",status="{status}"}} {count}'
                for (face, method, status), count in sorted(self._requests.items())
            ]
            lines.append("# TYPE kb_request_seconds histogram")
            for face, total in sorted(totals.items()):
                name = f'kb_request_seconds_bucket{{face="{face}",le='
                lines += [f'{name}"{bound}"}} {self._buckets[face, bound]}' for bound in _BUCKETS]
                lines.append(f'{name}"+Inf"}} {total}')
                lines.append(f'kb_request_seconds_sum{{face="{face}"}} {self._seconds[face]:.6f}')
                lines.append(f'kb_request_seconds_count{{face="{face}"}} {total}')
            lines += ["# TYPE kb_requests_in_progress gauge", f"kb_requests_in_progress {self._under_way}"]
        lines.append("# TYPE kb_rows gauge")
        lines += [f'kb_rows{{kind="{kind}"}} {count}' for kind, count in sorted(rows.items())]
        lines += ["# TYPE kb_generation_info gauge", f'kb_generation_info{{name="{generation}"}} 1', ""]
        return "\n".join(lines)
