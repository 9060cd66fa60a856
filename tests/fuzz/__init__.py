"""Random and broken input for every RPC and every route: only documented answers may come back."""
