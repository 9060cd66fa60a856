"""Times in questions: a grammar of English expressions, resolved against the caller's clock and zone."""
