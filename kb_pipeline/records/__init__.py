"""The narrow waist: every shape that travels between rooms. Frozen, closed, without behaviour beyond derivation.

Times are ISO 8601 strings in UTC (``2026-11-30T15:00:00Z``), dates ``YYYY-MM-DD``. Offsets count Unicode code
points of the decoded text. Hashes are the first 32 hex digits of SHA-256 unless a field says otherwise.
"""

from kb_pipeline.records.clusters import Cluster, DedupDecision, Occurrence, Pair, Side, Verdict
from kb_pipeline.records.documents import (
    Category,
    Converted,
    Document,
    Fetched,
    Meta,
    Project,
    RawDoc,
    RawEntry,
    Rewrite,
    Source,
    Taxonomy,
)
from kb_pipeline.records.drafts import Chunk, Draft, Extraction, Reject
from kb_pipeline.records.evaluation import EvalResult, Question, Rank
from kb_pipeline.records.items import Citation, Item, Tagging
from kb_pipeline.records.models import Ask, CostRow, Estimate, EstimateRow, PromptRow, Range, Refused, Spent
from kb_pipeline.records.record import (
    SCHEMA_VERSION,
    UNCLASSIFIED,
    Confidence,
    Decision,
    ItemType,
    QuestionStyle,
    Record,
    SourceType,
    Status,
)
from kb_pipeline.records.reports import BuildReport, Finding, StageReport
from kb_pipeline.records.search import Hit, Row, Scope, SearchResult
from kb_pipeline.records.views import Brief, DocumentView, ItemView, Overview, Passage, SourceStatus, StageStatus

__all__ = [
    "SCHEMA_VERSION",
    "UNCLASSIFIED",
    "Ask",
    "Brief",
    "BuildReport",
    "Category",
    "Chunk",
    "Citation",
    "Cluster",
    "Confidence",
    "Converted",
    "CostRow",
    "Decision",
    "DedupDecision",
    "Document",
    "DocumentView",
    "Draft",
    "Estimate",
    "EstimateRow",
    "EvalResult",
    "Extraction",
    "Fetched",
    "Finding",
    "Hit",
    "Item",
    "ItemType",
    "ItemView",
    "Meta",
    "Occurrence",
    "Overview",
    "Pair",
    "Passage",
    "Project",
    "PromptRow",
    "Question",
    "QuestionStyle",
    "Range",
    "Rank",
    "RawDoc",
    "RawEntry",
    "Record",
    "Refused",
    "Reject",
    "Rewrite",
    "Row",
    "Scope",
    "SearchResult",
    "Side",
    "Source",
    "SourceStatus",
    "SourceType",
    "Spent",
    "StageReport",
    "StageStatus",
    "Status",
    "Tagging",
    "Taxonomy",
    "Verdict",
]
