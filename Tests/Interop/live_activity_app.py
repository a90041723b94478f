"""A script that has Live Activities: the messages of the agent's socket, as any language would send them."""

import json
import uuid

from script_app import ScriptApp


class LiveActivityApp(ScriptApp):
    """A script app, and its activities as the agent reports them."""

    def observe(self, connection):
        """The activities now, and the token for starts."""
        connection.send({"type": "activity", "command": "observe"})
        return connection.wait(lambda message: message["type"] == "activity" and message["event"] == "all", 20)

    def start(self, connection, state, pushes=None, attributes_type="Delivery", **attributes):
        """Starts an activity; returns its id, or the agent's refusal."""
        activity = {
            "id": uuid.uuid4().hex, "attributesType": attributes_type, "attributes": json.dumps(attributes),
            "content": {"state": json.dumps(state), "relevanceScore": 0}, "state": "active"}
        answer = self.command(connection, "start", activity=activity, pushes=pushes or "token")
        return activity["id"] if answer["event"] == "accepted" else answer

    def command(self, connection, name, **members):
        """One command, and its answer."""
        number = uuid.uuid4().int >> 96
        connection.send({"type": "activity", "command": name, "request": number, **members})
        return connection.wait(
            lambda message: message["type"] == "activity" and message.get("request") == number, 20)

    def changed(self, connection, condition, seconds=20):
        """The next state of an activity for which a condition holds."""
        return connection.wait(
            lambda message: message["type"] == "activity" and message["event"] == "changed"
            and condition(message["activity"]), seconds)["activity"]

    def end(self, connection, *activities, dismissal="immediate"):
        """Ends activities."""
        for activity in activities:
            answer = self.command(connection, "end", id=activity, dismissal=dismissal)
            assert answer["event"] == "accepted", answer


def state(activity):
    """The content state of an activity."""
    return json.loads(activity["content"]["state"])
