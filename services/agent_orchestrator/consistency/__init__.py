"""Compares a space's data in all stores, repairs differences, and keeps what is taken out in quarantines."""
