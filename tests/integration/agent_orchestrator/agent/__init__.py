"""The agent over real sockets and a real database."""
