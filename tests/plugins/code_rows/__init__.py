"""Rows in the columns of the public data sets, made from a few tasks of our own."""
