"""Braid beside other systems: the same passages, questions and vectors on one machine.

`measure` runs them. Each `<name>_peer.py` is a program that knows nothing of Braid, run by a Python of its own.
"""
