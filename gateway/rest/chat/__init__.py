"""Questions in natural language over HTTP: as JSON, as events, as chat completions; and conversations."""
