"""Checks that no interface lets a caller see, count or change data of another space or another user."""
