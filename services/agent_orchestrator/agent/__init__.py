"""The agent: questions in plain words, answered from documents, facts and time."""
