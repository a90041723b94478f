"""A person at a console over TLS: logging in, forms with their tokens, and the server that the person logs in to."""

import re
import ssl
from html import unescape

import httpx

PASSWORD = "correct horse battery"
COOKIE = "__Host-aldaba"
TOKEN = re.compile(r'name="token" value="([^"]+)"')


class Visitor:
    """A browser without scripts."""

    def __init__(self, server, **options):
        context = ssl.create_default_context(cafile=server.ready["ca"])
        self.http = httpx.Client(base_url=server.ready["control"], verify=context, timeout=60,
            # A connection without a credential ends after a while, also between two requests.
            limits=httpx.Limits(max_keepalive_connections=0), **options)

    def get(self, path, **options):
        return self.http.get(path, **options)

    def post(self, path, data=None, page=None, **options):
        """Sends a form as the page that has it does; without `page` it has no token."""
        data = dict(data or {})
        if page:
            data["token"] = self.token(page)
        return self.http.post(path, data=data, headers={"Sec-Fetch-Site": "same-origin"}, **options)

    def token(self, page):
        found = TOKEN.search(self.get(page).text)
        assert found, f"{page} has no form with a token"
        return unescape(found[1])

    def log_in(self, name, password=PASSWORD, next=""):
        return self.post("/console/login", {"name": name, "password": password, "next": next})

    def set_up(self, address, name, password=PASSWORD):
        """Follows a link, and sets a password."""
        page = self.get(address)
        assert page.status_code == 200, page.text
        return self.post("/console/setup", {"link": httpx.URL(address).params["link"], "name": name, "password": password})

    @property
    def cookie(self):
        return self.http.cookies.get(COOKIE)

    def close(self):
        self.http.close()
