"""A program that uses the module for Python."""

import json

from aldaba_container import AldabaContainer

with AldabaContainer() as aldaba:
    aldaba.fault(interface="apns", status=429, reason="TooManyRequests")
    print(json.dumps({"http": aldaba.http, "apns": aldaba.apns, "fcm": aldaba.fcm, "ca": aldaba.ca}), flush=True)
    aldaba.received(status=200, count=1, timeout=20)
    received = aldaba.received(interface="apns")
    print(json.dumps([each["answer"]["status"] for each in received]))
    aldaba.reset()
    print(len(aldaba.received()))
