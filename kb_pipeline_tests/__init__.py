"""Tests: mirrors the tree of the package."""
