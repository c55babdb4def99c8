"""The program that runs untrusted code: stdlib only, executed fresh on the host or inside a container, never imported by a trainer."""
