"""An API compatible with OpenAI's chat completions, for existing chat front ends."""
