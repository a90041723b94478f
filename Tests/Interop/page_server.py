"""A web page with a service worker that subscribes to push messages and reports each step, for tests with real browsers."""

import json
import queue
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

SECONDS = 40

PAGE = """<!doctype html><title>push</title><script>
const tell = (step, more) => fetch('/tell', {method: 'POST', body: JSON.stringify({step, ...more})});
(async () => {
  try {
    await tell('page', {permission: Notification.permission});
    await navigator.serviceWorker.register('/worker.js');
    const registration = await navigator.serviceWorker.ready;
    const key = Uint8Array.from(atob('APPLICATION_KEY'), c => c.charCodeAt(0));
    // Firefox does not answer a page that asks while the browser is still starting.
    const ask = () => Promise.race([
      registration.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key}),
      new Promise(resolve => setTimeout(resolve, 3000)),
    ]);
    let subscription;
    while (!subscription) subscription = await ask();
    await tell('subscribed', {subscription: subscription.toJSON()});
  } catch (error) { await tell('failed', {error: String(error)}); }
})();
</script>"""

WORKER = """
self.addEventListener('push', event => event.waitUntil(Promise.all([
  self.registration.showNotification('push'),
  fetch('/tell', {method: 'POST', body: JSON.stringify({step: 'push', text: event.data && event.data.text()})}),
])));
"""


class PageServer:
    """The page's own server, which has the application server's key and hears what the page and its worker report."""

    browser = "the browser"

    def __init__(self):
        self.steps = queue.Queue()
        self.vapid = Vapid02()
        self.vapid.generate_keys()
        world, page = self, PAGE.replace("APPLICATION_KEY", self.application_key())

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def reply(self, status, body, kind):
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                found = {"/": (page, "text/html"), "/worker.js": (WORKER, "text/javascript")}.get(self.path)
                text, kind = found or ("", "text/plain")
                self.reply(200 if found else 404, text.encode(), kind)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path == "/tell":
                    world.steps.put(json.loads(body))
                    return self.reply(200, b"", "text/plain")
                self.reply(*world.post(self.path, self.headers, body))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def application_key(self):
        """The public key of the page's server, in base64."""
        return b64encode(self.vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)).decode()

    def post(self, path, headers, body):
        """The answer to another request than a report: its status, body and content type."""
        return 404, b"", "text/plain"

    def seen(self):
        """What else a failure says."""
        return ""

    def next(self, wanted):
        """The report of a step; the test fails, saying what was seen, when it does not come."""
        while True:
            try:
                step = self.steps.get(timeout=SECONDS)
            except queue.Empty:
                pytest.fail(f"{self.browser} stopped before the step {wanted!r}{self.seen()}")
            if step["step"] == wanted:
                return step
            if step["step"] == "failed":
                pytest.fail(f"{self.browser} stopped before the step {wanted!r}: {step['error']}{self.seen()}")

    def close(self):
        self.server.shutdown()
        self.server.server_close()
