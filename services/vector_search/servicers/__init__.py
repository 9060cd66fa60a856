"""The gRPC services: messages to domain types and back."""
