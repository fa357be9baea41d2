"""The endpoint as the environment names it."""

from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Endpoint, load

URL = {"KB_LLM_BASE_URL": "http://localhost:8000/v1/", "KB_LLM_MODEL": "small"}


def endpoint(root: Path, environ: dict[str, str]) -> Endpoint | None:
    """The endpoint of an empty knowledge base in that environment."""
    (root / "sources.yaml").write_text("version: 1\nsources: []\n")
    return load(root, environ).endpoint


def test_without_an_address_there_is_none(tmp_path: Path) -> None:
    """A knowledge base that names no endpoint has none, whatever else is set."""
    assert endpoint(tmp_path, {}) is None
    assert endpoint(tmp_path, {"KB_LLM_MODEL": "small"}) is None


def test_every_variable_is_read(tmp_path: Path) -> None:
    """Each variable sets its field, ``.env`` counts and the environment wins; a task may have a model of its own."""
    (tmp_path / ".env").write_text("KB_LLM_API_KEY=sk-secret\nKB_LLM_MODEL=other\n")
    limits = {"CONCURRENCY": "4", "RPM": "60", "TPM": "9000", "TIMEOUT": "1.5", "BUDGET_USD": "0.2"}
    variables = {f"KB_LLM_{name}": text for name, text in limits.items()} | {"KB_LLM_BUDGET_TOKENS": "1000"}
    found = endpoint(tmp_path, {**URL, **variables, "KB_LLM_MODEL_JUDGE": "large", "KB_EMBED_MODEL": "vectors"})
    assert found is not None
    assert found.base_url == "http://localhost:8000/v1"
    assert (found.model_of("extract"), found.model_of("judge"), found.embed_model) == ("small", "large", "vectors")
    assert (found.concurrency, found.rpm, found.tpm, found.timeout) == (4, 60, 9000, 1.5)
    assert (found.budget_usd, found.budget_tokens) == (0.2, 1000)
    assert found.api_key.get_secret_value() == "sk-secret"


def test_the_key_is_shown_nowhere(tmp_path: Path) -> None:
    """Neither a repr nor a dump of the settings holds the key."""
    found = endpoint(tmp_path, {**URL, "KB_LLM_API_KEY": "sk-secret"})
    assert found is not None
    assert "sk-secret" not in f"{found!r} {found} {found.model_dump()} {found.model_dump_json()}"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"KB_LLM_RPM": "0"}, "environment: KB_LLM_RPM must be greater than or equal to 1, not '0'."),
        ({"KB_LLM_TIMEOUT": "soon"}, "environment: KB_LLM_TIMEOUT must be"),
        ({"KB_LLM_MODL": "x"}, "unknown variable KB_LLM_MODL. Did you mean 'KB_LLM_MODEL'?"),
        ({"KB_LLM_BASE_URL": "localhost:8000"}, "KB_LLM_BASE_URL must be a web address"),
        ({"KB_LLM_BASE_URL": "http://me:pw-7@host/v1"}, "KB_LLM_BASE_URL must be a web address without a user name"),
        ({"KB_LLM_MODEL": ""}, "KB_LLM_BASE_URL names no model. Set KB_LLM_MODEL too"),
    ],
)
def test_a_mistake_names_its_variable(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    """A wrong variable is named with its place and what would be right; a password in an address is not repeated."""
    with pytest.raises(SettingsError) as caught:
        endpoint(tmp_path, URL | variables)
    assert message in str(caught.value)
    assert "pw-7" not in str(caught.value)
