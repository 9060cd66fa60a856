"""The space's recorded model wins over the settings; jobs move a space to the configured models while it serves."""
