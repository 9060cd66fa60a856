"""Stores in memory that tests compare real stores with."""
