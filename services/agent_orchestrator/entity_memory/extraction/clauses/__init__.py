"""Builds clauses from chunks: subjects, verb groups, objects and phrases, and the dependencies between clauses."""
