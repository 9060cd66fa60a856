"""Questions, labeled with the tools that they need."""
