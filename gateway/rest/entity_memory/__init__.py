"""`/api/memory`: the people, projects and tools that a user talks about."""
