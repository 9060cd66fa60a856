"""The language models that answer questions, within the rate limits of `services.models`."""
