"""The ways to judge a candidate: check functions and asserts, pytest files, standard input and output, shared processes."""
