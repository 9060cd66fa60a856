"""Braid in the words of OpenAI's chat completions, for chat front ends that exist."""
