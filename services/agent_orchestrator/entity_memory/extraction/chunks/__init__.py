"""Groups the tokens of a sentence into noun phrases, verb groups and function words."""
