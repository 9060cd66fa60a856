"""The tools of the agent: what they take, what they ask of the tiers, and how they say what they found."""
