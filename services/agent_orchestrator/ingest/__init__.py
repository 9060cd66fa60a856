"""Documents and facts on their way into both tiers: parse, chunk, embed, store, graph."""
