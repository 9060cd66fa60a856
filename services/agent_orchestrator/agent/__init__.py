"""The agent: answers questions in natural language from documents, facts and their validity times."""
