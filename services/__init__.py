"""The processes of Braid and what they share; one room per concern."""
