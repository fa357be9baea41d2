"""What a stage's report shows in Dagster."""

from kb_pipeline.defs.showing import metadata
from kb_pipeline.records import StageReport


def test_measures_over_all_are_numbers_of_their_own() -> None:
    """Dagster plots numbers alone: the row of all questions is shown as such, beside its table."""
    shown = metadata(StageReport(stage="eval", details={"metrics": {"all": {"mrr": 0.5}, "style:nl": {"mrr": 0.4}}}))
    assert shown["mrr"] == 0.5
    assert "style:nl" in shown["metrics"].value


def test_a_tag_may_have_any_name() -> None:
    """Counts by name are a table, whatever a document made of the names."""
    shown = metadata(StageReport(stage="tags", details={"tag_candidates": {"all": 3, "gpu": 2}}))
    assert "| all | 3 |" in shown["tag_candidates"].value
