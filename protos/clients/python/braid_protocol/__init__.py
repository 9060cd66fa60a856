"""Conventions of client and server in addition to the messages: ids, channel options, errors, outcomes of calls."""
