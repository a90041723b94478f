"""A small push service of a test's own over plain http: it keeps what it is asked, and answers what the test says."""

import threading
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from waiting import wait_until

Asked = namedtuple("Asked", "method path headers body")


class PushService:
    """Listens on loopback. `answer(asked)` gives `(status, headers, body)` for each request."""

    def __init__(self, answer):
        self.asked = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                asked = Asked(
                    self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                status, headers, answered = answer(asked)
                service.asked.append(asked)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answered)))
                self.end_headers()
                self.wfile.write(answered)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def wait_for(self, count):
        return wait_until(lambda: len(self.asked) >= count and self.asked, f"{count} requests came: {self.asked}")

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
