"""The hashing embedder."""

import numpy as np

from kb_pipeline.services.hashing import HashingEmbedder


def test_vectors_have_length_one() -> None:
    """Each text gives a unit vector of 384 floats, even one that says nothing."""
    vectors = HashingEmbedder().embed(["The cat sits on the mat.", "", " \n", "--", "检索", "caf\udce9"])
    assert vectors.shape == (6, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_vectors_are_the_same_on_every_machine() -> None:
    """The largest places of a known text do not change without a change of name."""
    vector = HashingEmbedder().embed(["The default block size is 16 tokens."])[0]
    largest = np.argsort(-np.abs(vector), kind="stable")[:4]
    assert largest.tolist() == [153, 38, 167, 231]
    assert np.allclose(vector[largest], [-0.443, 0.366, -0.337, -0.312], atol=5e-4)


def test_shared_words_and_parts_of_words_bring_texts_near() -> None:
    """A changed figure, ending or case stays near; another subject does not."""
    texts = [
        "The default block size is 16 tokens.",
        "The default block size is 32 tokens.",
        "the Default block sizes are 16 token",
        "Interest rates rose in spring.",
    ]
    a, figure, ending, other = HashingEmbedder().embed(texts)
    assert a @ figure > 0.8
    assert a @ ending > 0.5
    assert abs(a @ other) < 0.2


def test_scripts_without_spaces_share_letters() -> None:
    """In Chinese and Japanese a letter counts as a word."""
    a, b, other = HashingEmbedder().embed(["检索增强生成", "增强检索", "天气很好"])
    assert a @ b > 0.5
    assert abs(a @ other) < 0.2
