"""Onthedot on one machine: sets up what it needs, runs it whole without an AWS account, and shows it at work.

For people at a terminal (the Makefile calls it) and for the end-to-end tests; nothing here is ever deployed.

    setup      the three Python environments            (standard library only: it runs before they exist)
    emulator   the local AWS: start, find again, stop
    sam        build and deploy the real template.yaml
    mend       where the local AWS differs from AWS
    stack      up and down: an emulator with the template deployed on it
    tour       what `make run` shows
"""
