"""Stub servers for external services and for Braid's own tiers, on real loopback sockets."""
