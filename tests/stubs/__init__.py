"""Servers that stand in for paid services: real sockets on loopback, no mocks."""
