"""The local extractor: names in text without a language model. Pure functions, nothing stored."""
