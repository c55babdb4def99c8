"""What stands between a candidate and the machine: namespaces, mounts, seccomp, Landlock, limits, users."""
