"""Language models: OpenAI-compatible and Anthropic, with limits, retries and typed failures."""
