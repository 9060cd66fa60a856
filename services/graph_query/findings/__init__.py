"""Statements about the text: findings, intents and outcomes, in a layer of their own."""
