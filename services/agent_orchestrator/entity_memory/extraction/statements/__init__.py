"""Turns judged clauses into statements: by verb frames, roles, "be", passives and forms of their own."""
