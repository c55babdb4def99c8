"""The backend `docker`: the same program in hardened containers. docker-py is imported here and nowhere else."""
