"""Questions over HTTP: the gateway, the orchestrator and scripted tiers, over real sockets."""
