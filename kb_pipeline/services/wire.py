"""One request to an OpenAI-compatible endpoint, through the official SDK. Owns the time limit, and what each failure
means; tries nothing twice, and knows nothing of prompts.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, cast

from kb_pipeline.services.ledger import Tokens
from kb_pipeline.services.limits import Trouble
from kb_pipeline.settings import Endpoint

# Beside trouble that passes: the form of the request is not understood, one parameter is not, the text is too long,
# a filter refused it, or nothing at all is answered (key, model, quota, address).
Kind = Trouble | Literal["unsupported", "parameter", "long", "filtered", "unusable"]

_BY_STATUS: Mapping[int, Kind] = {
    400: "unsupported",
    401: "unusable",
    402: "unusable",
    403: "unusable",
    404: "unusable",
    405: "unusable",
    408: "timeout",
    409: "busy",
    413: "long",
    415: "unsupported",
    422: "unsupported",
    425: "busy",
    429: "busy",
    501: "unsupported",
    503: "busy",
    504: "timeout",
    529: "busy",
}
# What servers say in place of a status of its own; searched in the error's code, type and message.
_BY_WORDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"insufficient_quota|billing", re.IGNORECASE), "unusable"),
    (re.compile(r"content_filter|content.management|content_policy", re.IGNORECASE), "filtered"),
    (re.compile(r"context.{0,20}(length|size|window)|exceed.{0,12}context|too long", re.IGNORECASE), "long"),
    (re.compile(r"model_not_found|invalid_model", re.IGNORECASE), "unusable"),
)
PARAMETERS = ("max_tokens", "temperature")
_SHOWN = 300  # code points of a server's message


class Failed(Exception):
    """A request that gave no reply. ``wait`` is what the server asks for in seconds, ``parameter`` what it refused."""

    def __init__(self, kind: Kind, detail: str, *, wait: float | None = None, parameter: str = "") -> None:
        self.kind, self.detail, self.wait, self.parameter = kind, detail, wait, parameter
        super().__init__(f"{kind}: {detail}")


class Wire:
    """Requests to ``endpoint``, from one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._sdk: Any = None

    async def chat(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body of a chat completion. Raises ``Failed``."""
        return await self._send(self._client().chat.completions.with_raw_response, request)

    async def embeddings(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body of an embeddings call. Raises ``Failed``."""
        return await self._send(self._client().embeddings.with_raw_response, request)

    async def close(self) -> None:
        """Close connections; a later request opens them again."""
        if self._sdk is not None:
            await self._sdk.close()
            self._sdk = None

    def _client(self) -> Any:
        if self._sdk is None:
            import openai  # half a second, and most builds ask no model

            self._sdk = openai.AsyncOpenAI(
                base_url=self._endpoint.base_url,
                api_key=self._endpoint.api_key.get_secret_value() or "none",  # local servers want none, the SDK does
                timeout=self._endpoint.timeout,
                max_retries=0,
            )
        return self._sdk

    async def _send(self, resource: Any, request: Mapping[str, Any]) -> Mapping[str, Any]:
        import openai

        limit = self._endpoint.timeout
        try:
            # The SDK's own time limit is one a read, which a reply that drips never reaches.
            async with asyncio.timeout(limit):
                raw = await resource.create(**request)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise Failed("timeout", f"no reply within {limit:g} s") from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIConnectionError as error:
            raise Failed("fault", f"the connection failed ({self._shown(str(error.__cause__ or error))})") from error
        return self._object(raw.text)

    def _object(self, text: str) -> Mapping[str, Any]:
        try:
            body = json.loads(text)
        except ValueError as error:
            raise Failed("fault", "the reply is not JSON") from error
        if not isinstance(body, dict):
            raise Failed("fault", "the reply is not a JSON object")
        if body.get("error") and not (body.get("choices") or body.get("data")):  # some gateways put errors into a 200
            raise Failed("fault", self._shown(f"the reply is an error: {body['error']}"))
        return cast(Mapping[str, Any], body)

    def _refusal(self, error: Any) -> Failed:
        told = error.body if isinstance(error.body, dict) else {}
        said = " ".join(str(told.get(name) or "") for name in ("code", "type", "message")) if told else str(error)
        kind = _BY_STATUS.get(error.status_code, "fault" if error.status_code >= 500 else "unsupported")
        if error.status_code < 500:
            kind = next((found for pattern, found in _BY_WORDS if pattern.search(said)), kind)
        parameter = ""
        if kind == "unsupported":
            parameter = next((p for p in PARAMETERS if told.get("param") == p or f"'{p}'" in said), "")
        detail = self._shown(f"HTTP {error.status_code}: {told.get('message') or error}")
        wait = _wait(error.response.headers)
        return Failed("parameter" if parameter else kind, detail, wait=wait, parameter=parameter)

    def _shown(self, text: str) -> str:
        """A server's words, short and without the key, which some servers repeat."""
        key = self._endpoint.api_key.get_secret_value()
        return (text.replace(key, "…") if key else text)[:_SHOWN]


def tokens_of(body: Mapping[str, Any]) -> Tokens | None:
    """What the server counted, or None where it does not tell."""
    usage = body.get("usage")
    if not isinstance(usage, dict) or not isinstance(usage.get("prompt_tokens"), int):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Tokens(usage["prompt_tokens"], usage.get("completion_tokens") or 0, cached or 0)


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks for, given as a number or as a date (RFC 9110, 10.2.3)."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        asked = headers.get("retry-after")
        if not asked:
            return None
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", asked):
            return float(asked)
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
