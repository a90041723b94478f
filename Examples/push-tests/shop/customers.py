"""The customers' devices."""

from collections import defaultdict


class Customers:
    """For each customer the tokens of their devices, by the service that sends to them."""

    def __init__(self):
        self._devices = defaultdict(list)

    def add(self, customer, service, token):
        """Adds a device, which is one customer's at a time."""
        self.forget(token)
        self._devices[customer].append((service, token))

    def devices(self, customer):
        return list(self._devices[customer])

    def forget(self, token):
        """Removes a token, of whatever customer."""
        for customer, devices in self._devices.items():
            self._devices[customer] = [each for each in devices if each[1] != token]
