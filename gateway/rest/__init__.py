"""REST and Server-Sent Events over the gRPC contracts. No rule lives here: what a field may hold, the contract says."""
