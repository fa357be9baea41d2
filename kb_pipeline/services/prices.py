"""What tokens cost, from the table that genai-prices carries. Sends nothing, and guesses no price."""

from functools import lru_cache

_PROBE = 1_000_000


def price(base_url: str, model: str, sent: int, received: int, cached: int = 0) -> float | None:
    """US dollars for ``sent`` tokens, ``cached`` of them read from the provider's cache, and ``received`` ones.

    The price of the provider behind ``base_url``; of an address that the table does not know, what the model's own
    maker asks. None for a model in neither: it may be free, and it may not.
    """
    provider = _provider(base_url, model)
    if provider is None:
        return None
    return _calculated(model, provider, sent, received, min(cached, sent))


@lru_cache(maxsize=256)
def _provider(base_url: str, model: str) -> str | None:
    """Whose price counts: an address, ``""`` for the model's maker, None where nobody's is known."""
    for address in (base_url, ""):
        try:
            _calculated(model, address, _PROBE, _PROBE, 0)
        except LookupError:
            continue
        return address
    return None


def _calculated(model: str, address: str, sent: int, received: int, cached: int) -> float:
    from genai_prices import Usage, calc_price  # the table is large, and most builds ask no model

    usage = Usage(input_tokens=sent, output_tokens=received, cache_read_tokens=cached)
    return float(calc_price(usage, model, provider_api_url=address or None).total_price)
