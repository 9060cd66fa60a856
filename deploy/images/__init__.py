"""Builds container images from the lock."""
