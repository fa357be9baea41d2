"""The OpenAPI description of the API, made of the table of operations: it cannot say what the server does not do."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from kb_pipeline import __version__
from kb_pipeline.faces.web.operations import Operation
from kb_pipeline.faces.web.problems import MEDIA_TYPE, Problem

_REF = "#/components/schemas/{model}"
_FAULTS = {
    "400": "No request that can be read.",
    "401": "No token, or one that is not known.",
    "403": "The token may not do this.",
    "404": "No such thing, or none that the token may see.",
    "413": "The request is too large.",
    "422": "A parameter is missing or wrong.",
    "429": "Too many requests of this token.",
    "503": "The knowledge base cannot answer now.",
}


def description(operations: tuple[Operation, ...]) -> dict[str, Any]:
    """OpenAPI 3.1 of ``operations``; every fault is a problem of RFC 9457."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    _, problems = models_json_schema([(Problem, "serialization")], ref_template=_REF)
    schemas |= problems["$defs"]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kb_pipeline",
            "version": __version__,
            "description": "Proven items, searched and quoted. On loopback no token is needed.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    parameters = _lifted(operation.parameters.model_json_schema(ref_template=_REF), schemas)
    inner = set(re.findall(r"{(\w+)}", operation.path))
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": _parameters(parameters, inner, body=operation.method == "POST"),
        "responses": {"200": _answer(operation, schemas), **{code: _fault(text) for code, text in _FAULTS.items()}},
    }
    if operation.method == "POST":
        body = {**parameters, "properties": {k: v for k, v in parameters["properties"].items() if k not in inner}}
        body["required"] = [name for name in parameters.get("required", []) if name not in inner]
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found


def _parameters(schema: Mapping[str, Any], inner: set[str], *, body: bool) -> list[dict[str, Any]]:
    required = set(schema.get("required", ()))
    return [
        {
            "name": name,
            "in": "path" if name in inner else "query",
            "required": name in inner or name in required,
            "description": shape.get("description", ""),
            "schema": {k: v for k, v in shape.items() if k not in {"title", "description"}},
        }
        for name, shape in schema.get("properties", {}).items()
        if name in inner or not body
    ]


def _answer(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    schema = TypeAdapter(operation.answer).json_schema(ref_template=_REF, mode="serialization")
    content: dict[str, Any] = {"application/json": {"schema": _lifted(schema, schemas)}}
    if operation.streams:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    return {"description": operation.summary, "content": content}


def _fault(text: str) -> dict[str, Any]:
    return {"description": text, "content": {MEDIA_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}}}


def _lifted(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """``schema`` with its definitions moved to those that all share."""
    schemas |= schema.pop("$defs", {})
    return schema
