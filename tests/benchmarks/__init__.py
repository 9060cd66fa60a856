"""Speed, cost and faults: `python -m tests.benchmarks NAME`."""
