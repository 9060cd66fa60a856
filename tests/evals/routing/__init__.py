"""Questions and the tools that they need."""
