"""Relations between chunks, and the expansion of ranked lists along them."""
