"""A container of an image."""

import os
from collections import namedtuple
from pathlib import Path

ExecResult = namedtuple("ExecResult", ["exit_code", "output"])


class DockerContainer:
    """A container that starts and ends with a block."""

    def __init__(self, image, **options):
        self.image = image
        self._ports = {}

    def with_exposed_ports(self, *ports):
        """Publishes ports."""
        published = dict(each.split("=") for each in os.environ["STUB_PORTS"].split(","))
        self._ports = {port: int(published[str(port)]) for port in ports}
        return self

    def waiting_for(self, strategy):
        """Names what `start` waits for."""
        assert strategy.message == '"apnsPort"'
        return self

    def start(self):
        """Starts the container."""
        return self

    def stop(self, force=True, delete_volume=True):
        """Ends the container."""

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def get_container_host_ip(self):
        """The host of the published ports."""
        return "localhost"

    def get_exposed_port(self, port):
        """The published port of a port."""
        return self._ports[port]

    def exec(self, command):
        """Runs a command in the container."""
        program, path = command
        assert program == "cat"
        return ExecResult(0, Path(os.environ["STUB_ROOT"] + path).read_bytes())
