"""Behavior that needs both tiers on real stores, the orchestrator and its workers together."""
