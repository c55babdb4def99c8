"""Which part of a completion is its answer. Usable alone: ``extract(text)`` says what it found and by which rule."""

from .finding import ORDER, Extraction, Rule, boxes, extract, gold_text

__all__ = ["ORDER", "Extraction", "Rule", "boxes", "extract", "gold_text"]
