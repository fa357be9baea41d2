"""A compiler for knowledge: scattered sources in, proven and searchable items out."""

__version__ = "0.1.0"
