"""What kinds of things and relations a space is about."""
