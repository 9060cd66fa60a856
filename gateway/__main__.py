"""Serves the gateway: settings → clients → application → HTTP, until SIGTERM or SIGINT."""

from __future__ import annotations

import sys

from gateway.serving import StartError, serve
from gateway.settings import GatewaySettings
from services.runtime.identity import KeyFileError
from services.runtime.listen import ListenError
from services.runtime.loop import run
from services.runtime.read_settings import read_settings
from services.runtime.telemetry import configure_telemetry


def main() -> int:
    """Runs the process; 1 when it may not start as it is set up."""
    settings = read_settings(GatewaySettings)
    configure_telemetry(settings, "gateway")
    try:
        run(serve(settings))
    except (ListenError, KeyFileError, StartError) as error:
        sys.stderr.write(f"gateway: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
