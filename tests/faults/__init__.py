"""Fault injection: each dependency fails in several ways; responses stay true and timely, and the system recovers."""
