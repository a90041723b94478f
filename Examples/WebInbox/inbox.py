"""An inbox on the web: a page that receives push messages, shows them, and answers them.

    python3 inbox.py serve [--port 8000] [--data FOLDER] [--push-service ORIGIN]
    python3 inbox.py send TITLE [BODY] [--action NAME=LABEL]... [--link URL] [--badge N] [--data FOLDER]
    python3 inbox.py answers [--data FOLDER]

It needs PyPI's pywebpush. The folder keeps the key of this application server, the browsers' subscriptions, and their answers.
"""

import argparse
import base64
import fcntl
import json
import os
import sys
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPushException, webpush

HERE = Path(__file__).resolve().parent
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/inbox.js": ("inbox.js", "text/javascript; charset=utf-8"),
    "/worker.js": ("worker.js", "text/javascript; charset=utf-8"),
    "/manifest.webmanifest": ("manifest.webmanifest", "application/manifest+json"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
LARGEST = 16_384
MOST_SUBSCRIPTIONS = 1_000


class Store:
    """The folder with the key, the subscriptions and the answers; every file is the owner's alone."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(mode=0o700, exist_ok=True)

    def key(self):
        """The key of this application server, which is made the first time."""
        file = self.folder / "vapid.pem"
        with self._locked():
            if not file.exists():
                made = Vapid02()
                made.generate_keys()
                with open(file, "xb", opener=private) as out:
                    out.write(made.private_pem())
        return Vapid02.from_file(file)

    def subscriptions(self):
        file = self.folder / "subscriptions.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def add(self, subscription):
        """Whether it is stored: not where there are too many."""
        with self._changing() as stored:
            if subscription["endpoint"] not in stored and len(stored) >= MOST_SUBSCRIPTIONS:
                return False
            stored[subscription["endpoint"]] = subscription
            return True

    def remove(self, endpoint):
        with self._changing() as stored:
            stored.pop(endpoint, None)

    def answer(self, line):
        with open(self.folder / "answers.jsonl", "a", opener=private, encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")

    def answers(self):
        file = self.folder / "answers.jsonl"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    @contextmanager
    def _changing(self):
        with self._locked():
            stored = self.subscriptions()
            yield stored
            draft = self.folder / "subscriptions.new"
            with open(draft, "w", opener=private, encoding="utf-8") as out:
                json.dump(stored, out)
            draft.rename(self.folder / "subscriptions.json")

    @contextmanager
    def _locked(self):
        with open(self.folder / "lock", "w", opener=private) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def private(path, flags):
    return os.open(path, flags, 0o600)


def application_key(key):
    """The public half, as a page gives it to its browser."""
    point = key.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).decode().rstrip("=")


def fault(subscription):
    """Why this is no subscription that can be sent to; `None` where it is one."""
    if not isinstance(subscription, dict) or not isinstance(subscription.get("endpoint"), str):
        return "a subscription has an endpoint and keys"
    keys = subscription.get("keys")
    if not isinstance(keys, dict) or not all(isinstance(keys.get(name), str) for name in ("p256dh", "auth")):
        return "a subscription has the keys p256dh and auth"
    if urlsplit(subscription["endpoint"]).scheme not in ("http", "https"):
        return "an endpoint is an address of http or https"
    return None


class Handler(BaseHTTPRequestHandler):
    """Serves the page, and takes its subscriptions and answers. Only pages of this server may send them."""

    store = None
    push_service = None

    def log_message(self, *_):
        pass

    def respond(self, status, body=b"", kind="text/plain; charset=utf-8"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("content-security-policy", "default-src 'self'")
        self.send_header("x-content-type-options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/key":
            return self.respond(200, application_key(self.store.key()).encode())
        name, kind = FILES.get(self.path, (None, None))
        if name is None:
            return self.respond(404, b"there is no such page\n")
        self.respond(200, (HERE / name).read_bytes(), kind)

    def do_POST(self):
        origin = self.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != self.headers.get("host"):
            return self.respond(403, b"another site's page may not do this\n")
        length = self.headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or int(length) > LARGEST:
            return self.respond(413, f"a body has at most {LARGEST} bytes\n".encode())
        try:
            body = json.loads(self.rfile.read(int(length)))
        except ValueError:
            return self.respond(400, b"the body must be JSON\n")
        match self.path:
            case "/subscribe":
                return self.subscribe(body)
            case "/unsubscribe" if isinstance(body, dict):
                self.store.remove(self.endpoint(str(body.get("endpoint"))))
                return self.respond(204)
            case "/answer" if isinstance(body, dict):
                told = {name: str(body[name])[:200] for name in ("message", "action") if name in body}
                self.store.answer({"at": int(time.time())} | told)
                return self.respond(204)
        self.respond(404, b"there is no such page\n")

    def endpoint(self, told):
        """A browser whose push service is named by switches tells addresses at the one that is compiled in."""
        return self.push_service + urlsplit(told).path if self.push_service else told

    def subscribe(self, body):
        wrong = fault(body)
        if wrong:
            return self.respond(400, f"{wrong}\n".encode())
        endpoint = self.endpoint(body["endpoint"])
        if not self.push_service and urlsplit(endpoint).scheme != "https":
            return self.respond(400, b"an endpoint without TLS needs --push-service\n")
        if not self.store.add({"endpoint": endpoint, "keys": body["keys"]}):
            return self.respond(507, b"there are too many subscriptions\n")
        self.respond(201)


def serve(options, store):
    Handler.store, Handler.push_service = store, options.push_service and options.push_service.rstrip("/")
    store.key()
    try:
        server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    except (OSError, OverflowError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else fault
        print(f"port {options.port} cannot be used: {why}; name another one with --port", file=sys.stderr)
        return 1
    print(f"http://localhost:{server.server_address[1]}/", flush=True)
    server.serve_forever()


def message(options):
    """A declarative push message: Safari shows it by itself, other browsers' workers read it."""
    name = f"{time.time_ns():x}"
    notification = {"title": options.title, "navigate": options.link, "tag": name}
    if options.body:
        notification["body"] = options.body
    if options.action:
        notification["actions"] = [
            {"action": key, "title": label or key, "navigate": options.link}
            for key, _, label in (action.partition("=") for action in options.action)]
    whole = {"web_push": 8030, "notification": notification}
    if options.badge is not None:
        whole["app_badge"] = options.badge
    return name, json.dumps(whole)


def send(options, store):
    name, text = message(options)
    key, failures, ended = store.key(), 0, 0
    subscriptions = store.subscriptions()
    for endpoint, subscription in subscriptions.items():
        try:
            webpush(subscription, text, vapid_private_key=key, vapid_claims={"sub": options.subject}, ttl=options.ttl)
        except WebPushException as refusal:
            status = refusal.response.status_code if refusal.response is not None else None
            if status in (404, 410):
                store.remove(endpoint)
                print("a subscription has ended and was removed", file=sys.stderr)
                ended += 1
                continue
            failures += 1
            print(f"a push service answered {status}: {refusal.response.text if status else refusal}", file=sys.stderr)
    if ended == len(subscriptions):
        print(
            f"{store.folder} has no subscription: open the page of `inbox.py serve` in a browser and press its button, "
            "or name its folder with --data", file=sys.stderr)
        return 1
    print(name)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    serving, sending, answering = (commands.add_parser(name) for name in ("serve", "send", "answers"))
    for command in (serving, sending, answering):
        command.add_argument("--data", default="inbox-data", help="the folder with the key and the subscriptions")
    serving.add_argument("--port", type=int, default=8000)
    serving.add_argument("--push-service", help="the origin of all endpoints, such as http://127.0.0.1:8080")
    sending.add_argument("title")
    sending.add_argument("body", nargs="?")
    sending.add_argument("--action", action="append", metavar="NAME=LABEL")
    sending.add_argument("--link", default="/", help="the address that a click opens; for iPhones an absolute one")
    sending.add_argument("--badge", type=int)
    sending.add_argument("--ttl", type=int, default=86_400, help="for how many seconds the message may wait")
    sending.add_argument("--subject", default="mailto:admin@example.org", help="whom a push service can ask")
    options = parser.parse_args()
    store = Store(options.data)
    if options.command == "serve":
        return serve(options, store)
    if options.command == "send":
        return send(options, store)
    print(store.answers(), end="")


if __name__ == "__main__":
    sys.exit(main())
