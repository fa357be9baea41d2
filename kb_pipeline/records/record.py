"""What every record shares: frozen, closed, and the few closed lists of words."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1

SourceType = Literal["note", "doc", "web", "paper", "code", "chat", "mail", "ticket", "table", "human"]
ItemType = Literal["fact", "definition", "procedure", "tradeoff", "metric"]
Confidence = Literal["high", "medium", "low"]
Status = Literal["active", "superseded", "retired"]
Decision = Literal["merge", "keep_both", "supersede"]
QuestionStyle = Literal["keyword", "nl", "paraphrase"]
UNCLASSIFIED = "UNCLASSIFIED"


class Record(BaseModel):
    """Base of all records: frozen, no unknown field."""

    model_config = ConfigDict(frozen=True, extra="forbid")
