"""The recipes that people start from, as compositions; docs/presets/ has a page for each."""
