"""The local planner: routes questions, resolves dates and composes cited answers without a language model."""
