"""Converts judged clauses to statements: by verb frames, roles, "be", passives and special forms."""
