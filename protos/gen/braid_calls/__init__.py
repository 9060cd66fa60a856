"""Methods of the Python client, generated from the contracts."""
