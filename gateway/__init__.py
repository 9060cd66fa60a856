"""The interfaces other than gRPC: REST with Server-Sent Events, MCP, the explorer page, and the `braid` command."""
