"""Question answering by exact match, sub-match and F1, as the field's graders count them."""

from .reward import qa

__all__ = ["qa"]
