"""The gRPC services, which map messages to domain types and back."""
