"""The audit: trying to cheat the configured rewards, offline (`auditing`), and looking for defects of data (`data`)."""
