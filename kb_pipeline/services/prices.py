"""What tokens cost, from the table that genai-prices carries. Sends nothing, and guesses no price."""

from functools import lru_cache

from kb_pipeline.services.ledger import Price, Tokens

_PROBE = Tokens(1_000_000, 1_000_000)


def prices(base_url: str) -> Price:
    """The price of a model's tokens in US dollars, as ``ledger.Ledger`` wants it.

    It is that of the provider behind ``base_url``; at an address that the table does not know, what the model's own
    maker asks. None for a model in neither: it may be free, and it may not.
    """

    def price(model: str, tokens: Tokens) -> float | None:
        provider = _provider(base_url, model)
        if provider is None:
            return None
        return _calculated(model, provider, tokens)

    return price


@lru_cache(maxsize=256)
def _provider(base_url: str, model: str) -> str | None:
    """Whose price counts: an address, ``""`` for the model's maker, None where nobody's is known."""
    for address in (base_url, ""):
        try:
            _calculated(model, address, _PROBE)
        except LookupError:
            continue
        return address
    return None


def _calculated(model: str, address: str, tokens: Tokens) -> float:
    from genai_prices import Usage, calc_price  # the table is large, and most builds ask no model

    cached = min(tokens.cached, tokens.sent)
    usage = Usage(input_tokens=tokens.sent, output_tokens=tokens.received, cache_read_tokens=cached)
    return float(calc_price(usage, model, provider_api_url=address or None).total_price)
