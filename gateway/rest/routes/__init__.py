"""One module a resource; each route turns a body into a message, calls one RPC, and shows its answer."""
