"""Provider tokens (JWT, ES256) made by hand, so that each part of them can be made wrong."""

import base64
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def as_json(value):
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()


class ProviderKey:
    """A `.p8` key with its id and team."""

    def __init__(self, pem, key_id, team):
        self.private = serialization.load_pem_private_key(pem, password=None)
        self.key_id = key_id
        self.team = team

    @classmethod
    def made_now(cls, key_id, team):
        """A key of the right kind that the server has never seen."""
        pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return cls(pem, key_id, team)

    @property
    def public_pem(self):
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def signature(self, signed):
        """The 64 bytes r || s that JWS asks for (RFC 7518, 3.4)."""
        r, s = decode_dss_signature(self.private.sign(signed, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def token(self, header=None, claims=None, issued=None):
        """A token; `header` and `claims` replace the usual ones (a value, or bytes sent verbatim)."""
        if header is None:
            header = {"alg": "ES256", "kid": self.key_id}
        if claims is None:
            claims = {"iss": self.team, "iat": int(time.time()) if issued is None else issued}
        signed = f"{base64url(as_json(header))}.{base64url(as_json(claims))}"
        return f"{signed}.{base64url(self.signature(signed.encode()))}"
