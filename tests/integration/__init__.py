"""Tests over real sockets and real stores."""
