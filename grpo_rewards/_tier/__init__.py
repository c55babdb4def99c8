"""A tier of Ray actors that evaluate the components of live batches: `connection`, `actor` (in an actor), `nodes`, `tier` (the caller's side)."""
