"""Questions in plain words over HTTP: as JSON, as events, as chat completions; and conversations."""
