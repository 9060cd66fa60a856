"""Search of both tiers concurrently, with the results as one ranked list."""
