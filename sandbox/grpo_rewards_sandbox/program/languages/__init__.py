"""Whole programs of any language: what compiles and runs them, and programs that judge their output."""
