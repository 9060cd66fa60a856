"""Measurements of speed, resource use and behavior under faults: `python -m tests.benchmarks NAME`."""
