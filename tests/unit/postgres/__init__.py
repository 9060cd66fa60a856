"""The pool without a database."""
