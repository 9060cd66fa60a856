"""The `braid` command: starts the local stack, and calls a running gateway over REST."""
