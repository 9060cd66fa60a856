"""Quality: `python -m tests.evals NAME --data FOLDER [--mode MODE]`."""
