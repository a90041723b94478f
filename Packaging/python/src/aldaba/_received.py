"""The requests that a server received: one is an `Entry`, those of a test are `Received`."""

import json
import time
import urllib.parse

LONGEST_POLL = 60  # seconds for which the server keeps one request waiting
MEMBERS = frozenset((
    "number at interface connection method path headers payload text base64 token app team key topic condition namespace "
    "title body answer milliseconds fault notifications state id status reason").split())
FILTERS = frozenset("interface token app team key topic condition title body state status namespace since match".split())


class NotReceived(AssertionError):
    """A request did not come in time."""

    __module__ = "aldaba"  # as a failed test shows it


class Entry(dict):
    """A request that the server received, as the API tells it.

    Its members are attributes as well. One that is absent is None.
    """

    def __getattr__(self, name):
        if name not in MEMBERS:
            raise AttributeError(f"an entry has no member {name}")
        value = self.get(name)
        if name == "answer" and value is not None:
            return Entry(value)
        return [Entry(each) for each in value or []] if name == "notifications" else value

    def line(self, *names):
        """The entry in one line, for a person; `names` are further members to show."""
        answer = self.answer or Entry()
        words = [str(self.number), self.interface, str(answer.status or "no answer"), answer.reason, self.state]
        words += [f"{name}={self[name]!r}" for name in ("title", "app", *names) if self.get(name) is not None]
        if self.token:
            words.append(f"token={self.token[:16]}" + ("…" if len(self.token) > 16 else ""))
        return "  ".join(word for word in words if word)


class Received:
    """The requests that a server received, of one namespace or of all."""

    def __init__(self, server, namespace=None, since=None):
        self._server = server
        self.namespace = namespace
        self.since = since

    def all(self, **criteria):
        """The requests that match, in the order in which they came; of more than 1000 the latest.

        `title="…"`, `state="…"` and the other filters of the API select; `match={"aps.badge": 1}` selects by the payload.
        """
        return self._ask(criteria, limit=1000)

    @property
    def last(self):
        """The latest one, or None."""
        return (self._ask({}, limit=1) or [None])[0]

    def wait_for(self, *, timeout=5, **criteria):
        """Waits until one matches, and returns the latest that does; raises `NotReceived` when the time is over."""
        __tracebackhide__ = True
        return self.wait_for_count(1, timeout=timeout, **criteria)[-1]

    def wait_for_count(self, count, *, timeout=5, **criteria):
        """Waits until so many match, and returns all that do; raises `NotReceived` when the time is over."""
        __tracebackhide__ = True
        deadline = time.monotonic() + timeout
        while True:
            left = max(0.0, deadline - time.monotonic())
            found = self._ask(criteria, limit=1000, count=count, timeout=round(min(left, LONGEST_POLL), 3))
            if len(found) >= count:
                return found
            if time.monotonic() >= deadline:
                raise NotReceived(self._story(count, timeout, criteria, found))

    def _ask(self, criteria, **bounds):
        unknown = criteria.keys() - FILTERS
        if unknown:
            raise TypeError(f"{', '.join(sorted(unknown))} is no filter; there are {', '.join(sorted(FILTERS))}")
        match = criteria.get("match") or {}
        query = {name: value for name, value in criteria.items() if name != "match"}
        query = {"namespace": self.namespace, "since": self.since} | query | bounds
        pairs = [(name, value) for name, value in query.items() if value is not None]
        for path, value in match.items():
            text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
            pairs.append(("match", f"{path}={text}"))
        query = urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote)
        answer = self._server.request("GET", f"/v1/received?{query}", timeout=10 + bounds.get("timeout", 0))
        return [Entry(each) for each in reversed(answer["received"])]

    def _story(self, count, timeout, criteria, found):
        """The reason why a wait failed, with the requests that came."""
        wanted = " and ".join(f"{name}={value!r}" for name, value in criteria.items()) or "anything"
        number = "no request" if not found else f"{len(found)} of {count} requests"
        lines = [f"{number} with {wanted} came within {timeout:g} s."]
        others = self._ask({}, limit=20)
        if others:
            lines += ["What came:", *(f"  {each.line()}" for each in others)]
        elif self.namespace:
            lines.append(f"Nothing came in the namespace {self.namespace} of this test.")
            elsewhere = Received(self._server)._ask({}, limit=5)
            if elsewhere:
                lines += ["The latest of other namespaces:", *(f"  {each.line('namespace')}" for each in elsewhere)]
        else:
            lines.append("Nothing came.")
        return "\n".join(lines)
