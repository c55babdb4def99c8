"""Comparing two scorings of the same rows: what changed, by which component, and whether it matters."""
