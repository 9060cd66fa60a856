"""The tools by subject. Each function takes its arguments and the call, and returns its result."""
