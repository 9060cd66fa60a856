"""The local extractor: finds names in text without a language model. Pure functions without storage."""
