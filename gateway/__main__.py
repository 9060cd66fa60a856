"""Serves the gateway: settings → clients → application → HTTP, until SIGTERM or SIGINT."""

from __future__ import annotations

from gateway.http_server import serve
from gateway.settings import GatewaySettings
from services.runtime.loop import run
from services.runtime.read_settings import read_settings
from services.runtime.telemetry import configure_telemetry


def main() -> None:
    """Runs the process."""
    settings = read_settings(GatewaySettings)
    configure_telemetry(settings, "gateway")
    run(serve(settings))


if __name__ == "__main__":
    main()
