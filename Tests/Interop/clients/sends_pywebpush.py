"""pywebpush: a message to the endpoint that a browser of Google's shows its page."""

import base64
import os
import sys

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pywebpush import WebPushException, webpush


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


page = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
for endpoint in sys.argv[1:]:
    subscription = {"endpoint": endpoint, "keys": {"p256dh": text(page), "auth": text(os.urandom(16))}}
    try:
        answer = webpush(
            subscription, "Buy milk", vapid_private_key="vapid.pem", vapid_claims={"sub": "mailto:shop@example.org"}, ttl=60)
        print(answer.status_code)
    except WebPushException as refusal:
        print(refusal.response.status_code, refusal.response.text)
