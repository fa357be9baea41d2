"""The OpenAPI description is true: whatever is made of it, the server answers as it says."""

import subprocess
import sys
from pathlib import Path

from kb_pipeline_tests.two_projects import served, serving

CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
CHECKS += ["negative_data_rejection", "positive_data_acceptance", "unsupported_method"]
_MAIN = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"


def probe(url: str, examples: int, *, seed: int = 1) -> "subprocess.CompletedProcess[str]":
    """Let schemathesis ask what the description of a running server allows and what it forbids, reproducibly."""
    arguments = ["run", f"{url}/openapi.json", "-c", ",".join(CHECKS), "-n", str(examples), "--seed", str(seed)]
    arguments += ["--phases", "examples,coverage,fuzzing", "--no-color", "--generation-database", "none"]
    command = [sys.executable, "-c", _MAIN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_operation_is_described(compiled: Path) -> None:
    """Each operation is in the description, with a schema for what it answers and one for each fault."""
    with served(compiled) as client:
        told = client.get("/openapi.json").json()
    assert told["openapi"] == "3.1.0"
    operations = [o for methods in told["paths"].values() for o in methods.values()]
    assert len(operations) >= 14
    assert len({o["operationId"] for o in operations}) == len(operations)
    assert all("schema" in o["responses"]["200"]["content"]["application/json"] for o in operations)
    assert all({"401", "404", "422"} <= o["responses"].keys() for o in operations)


def test_the_server_does_what_its_description_says(compiled: Path) -> None:
    """No request made of the description fails the server, and no answer is other than described."""
    with serving(compiled) as url:
        done = probe(url, 3)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
