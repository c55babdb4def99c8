"""The page: its template, style and script, and what fills them."""
