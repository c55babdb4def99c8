"""The checks, one module per group of them; importing this package registers them all."""

from . import classic, classic_mended, counts, custom, formats, functions, rlvr, words

__all__ = ["classic", "classic_mended", "counts", "custom", "formats", "functions", "rlvr", "words"]
