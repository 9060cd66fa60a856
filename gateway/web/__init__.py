"""The explorer page: search, ask, walk the graph through time, bring documents. Plain ES modules, no build step."""
