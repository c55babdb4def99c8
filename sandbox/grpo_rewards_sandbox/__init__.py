"""Runs untrusted code and returns verdicts that the code cannot forge. Knows nothing of rewards."""
