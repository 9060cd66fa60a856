"""Measurements of quality: `python -m tests.evals NAME [--data FOLDER] [--mode MODE]`."""
