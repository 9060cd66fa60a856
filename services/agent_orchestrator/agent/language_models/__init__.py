"""The language models that answer questions, within the limits of `services.models`."""
