"""The graph in REST: its parameters, its bodies, and its messages as JSON."""
