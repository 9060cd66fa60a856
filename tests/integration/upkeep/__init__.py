"""Both tiers on real stores, the orchestrator and its workers: what only all of them together can promise."""
