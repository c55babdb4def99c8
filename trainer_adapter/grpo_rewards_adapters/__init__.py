"""Plugs a composite reward into trainers: one module per trainer."""
