"""Withdrawing and correcting stated facts, and comparing what a source states with what it stated before."""
