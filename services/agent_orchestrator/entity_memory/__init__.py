"""Entity memory: the people, projects and tools that each user talks about, and the relationships between them."""
