"""The tools by what they are about. Each function takes its arguments and the call, and answers with its result."""
