"""Runs: answering a question, the events of a run, and the event log."""
