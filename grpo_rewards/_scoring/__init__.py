"""Scoring files: reading rows, scoring them in chunks of whole groups, and an output that survives being killed."""
