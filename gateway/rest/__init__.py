"""REST and Server-Sent Events over the gRPC contracts, which define all validation rules."""
