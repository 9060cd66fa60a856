"""One question to both tiers at once, their answers as one ranked list."""
