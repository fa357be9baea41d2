"""What becomes of a question that the model did not answer: told in words, or raised where it may answer later."""

from kb_pipeline.errors import UNAVAILABLE, ModelError

_WORDS = {
    "refused": "the model refused to answer",
    "cut": "the model's reply was cut off",
    "invalid": "the model's reply had not the shape asked for",
}


def words_of(error: ModelError) -> str:
    """Why there is no answer. Raises ``error`` where the endpoint could not be reached: asking again may help."""
    if error.code == UNAVAILABLE:
        raise error
    return _WORDS.get(error.code, str(error))
