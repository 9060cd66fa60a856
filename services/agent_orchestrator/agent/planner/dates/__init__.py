"""Time expressions in questions: a grammar of English, resolved against the caller's clock and zone."""
