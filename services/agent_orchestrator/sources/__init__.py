"""Places whose documents are kept in step: what they are, and how their last run ended."""
