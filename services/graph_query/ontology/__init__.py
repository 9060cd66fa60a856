"""Ontologies: the types of entities and relations of a space."""
