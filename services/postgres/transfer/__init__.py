"""The rows of a space's tables as JSON, page by page, and back."""
