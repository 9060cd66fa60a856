"""The doors for everything that is not gRPC: REST with Server-Sent Events, and the `braid` command."""
