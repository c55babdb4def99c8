"""The backends that come with the package: `local` and `docker`."""
