"""The agent's tools: their arguments, their calls to the tiers, and the form of their results."""
