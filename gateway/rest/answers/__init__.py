"""Shapes of answers, for the OpenAPI document alone: `views` builds them, nothing validates them again."""
