"""The contract over the features: one module a service or feature; `*_messages` map messages to the domain and back."""
