"""Fuzzing of every RPC and every route: random and malformed input may only lead to documented responses."""
