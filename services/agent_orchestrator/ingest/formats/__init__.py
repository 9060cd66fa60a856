"""One module a format: from bytes to text and where its parts begin."""
