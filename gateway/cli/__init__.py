"""The `braid` command: starts the local stack, and asks a running gateway over REST."""
