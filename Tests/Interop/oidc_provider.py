"""An OpenID provider of a test's own, on loopback: discovery, keys, the code flow with PKCE, and faults on demand."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa


def _segment(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class OpenIDProvider:
    """Answers at once as if the person `subject` had logged in; `fault` makes its tokens wrong."""

    def __init__(self, client, algorithm="RS256"):
        self.client, self.algorithm = client, algorithm
        self.secret = secrets.token_urlsafe(24)
        self.subject, self.fault = "somebody", None
        self._codes = {}
        make = {"RS256": lambda: rsa.generate_private_key(65537, 2048), "ES256": lambda: ec.generate_private_key(ec.SECP256R1())}
        self._key, self._other = make[algorithm](), make[algorithm]()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _handler(provider):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
                fields = {name: values[0] for name, values in query.items()}
                if path == "/.well-known/openid-configuration":
                    self.answer(provider.configuration())
                elif path == "/keys":
                    self.answer({"keys": [provider.public_key()]})
                elif path == "/authorize":
                    self.send_response(302)
                    self.send_header("location", provider.authorize(fields))
                    self.send_header("content-length", "0")
                    self.end_headers()
                else:
                    self.answer({"error": "not_found"}, 404)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                fields = {name: values[0] for name, values in parse_qs(body).items()}
                answer = provider.exchange(fields)
                self.answer(answer, 400 if "error" in answer else 200)

            def answer(self, document, status=200):
                data = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        return Handler

    def configuration(self):
        return {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        }

    def public_key(self):
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        key = json.loads(algorithm.to_jwk(self._key.public_key()))
        return key | {"kid": "1", "use": "sig", "alg": self.algorithm}

    def authorize(self, fields):
        """The address to which the browser comes back with a code."""
        assert fields["client_id"] == self.client and fields["response_type"] == "code", fields
        assert fields["code_challenge_method"] == "S256" and len(fields["state"]) >= 32, fields
        assert fields["redirect_uri"].endswith("/console/login/callback"), fields
        code = secrets.token_urlsafe(16)
        self._codes[code] = fields
        return fields["redirect_uri"] + "?" + urlencode({"code": code, "state": fields["state"]})

    def exchange(self, fields):
        """The tokens of a code, which is used once, by whoever began the log-in."""
        begun = self._codes.pop(fields.get("code"), None)
        if begun is None or fields.get("grant_type") != "authorization_code":
            return {"error": "invalid_grant"}
        challenge = _segment(hashlib.sha256(fields.get("code_verifier", "").encode()).digest())
        if challenge != begun["code_challenge"] or fields.get("redirect_uri") != begun["redirect_uri"]:
            return {"error": "invalid_grant"}
        if fields.get("client_secret") != self.secret or fields.get("client_id") != self.client:
            return {"error": "invalid_client"}
        return {"access_token": "unused", "token_type": "Bearer", "id_token": self.token(begun["nonce"])}

    def token(self, nonce):
        """An ID token, with the fault that was asked for."""
        now = int(time.time())
        claims = {
            "iss": self.issuer, "sub": self.subject, "aud": self.client, "exp": now + 300, "iat": now, "auth_time": now,
            "nonce": nonce,
        }
        wrong = {"nonce": "another", "aud": "another", "iss": "https://another.example", "exp": now - 3600}
        if self.fault in wrong:
            claims[self.fault] = wrong[self.fault]
        if self.fault == "none":
            return jwt.encode(claims, None, algorithm="none")
        if self.fault == "symmetric":
            # The public key as a secret, which everybody knows; the library refuses to sign with one.
            head, body = (_segment(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT", "kid": "1"}, claims))
            public = self._key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
            return f"{head}.{body}.{_segment(hmac.new(public, f'{head}.{body}'.encode(), hashlib.sha256).digest())}"
        key = self._other if self.fault == "signature" else self._key
        return jwt.encode(claims, key, algorithm=self.algorithm, headers={"kid": "1"})
