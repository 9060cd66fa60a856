"""What is known about a user from entity memory and typed memories: as a profile, and as a text for a prompt."""
