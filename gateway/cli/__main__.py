"""`python -m gateway.cli`: the `braid` command."""

from gateway.cli.app import main

main()
