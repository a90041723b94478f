"""The Live Activities that the agent has told an app of, and the places of those who read their changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from aldaba._agent_activities import Activity, ActivityState
from aldaba._agent_codec import Message, read, read_fields
from aldaba._agent_events import ActivityChanged, ActivityTokenChanged, EventQueue, StartTokenChanged

if TYPE_CHECKING:
    from aldaba._agent_session import Waiter

OBSERVE: Message = {"type": "activity", "command": "observe"}
# Dismissed activities are kept for readers that are slow, so many of them at most.
REMEMBERED_DISMISSALS = 256

Value = TypeVar("Value")
Found = tuple[int, Activity]


class KnownActivities:
    """What the agent has told of the app's activities.

    A reader sees the newest of each activity, and never fewer than that: it remembers the revision that it has seen.
    Events for handlers that find no space in the queue are told again after the next connection.
    """

    def __init__(self, events: EventQueue) -> None:
        self._events = events
        self.is_observed = False
        self.is_listed = False
        self.start_token: str | None = None
        self._start_revision = 0
        self._revision = 0
        # By their ids, those that changed last at the end.
        self.changes: dict[str, Found] = {}
        self.tokens: dict[str, Found] = {}
        # The kinds of events for which there is a handler, and the activities of which it has not been told.
        self._kinds: set[type] = set()
        self._untold: set[str] = set()
        self._waiters: dict[int, Waiter[list[Activity]]] = {}

    @property
    def current(self) -> list[Activity]:
        """The activities that are not dismissed."""
        return [each for _, each in self.changes.values() if each.state is not ActivityState.DISMISSED]

    # What the agent says

    def received(self, message: Message) -> None:
        """An event of the agent's: `all`, `changed` or `startToken`."""
        event = message.get("event")
        if event == "all":
            listed = message.get("activities")
            found = read_fields(_Listed, {"activities": listed}, "").activities
            token = message.get("startToken")
            self._listed(found, None if token is None else read(str, token, "startToken"))
        elif event == "changed":
            self._changed(read(Activity, message.get("activity"), "activity"))
        elif event == "startToken":
            self._start_token(read(str, message.get("startToken"), "startToken"))

    def _listed(self, found: Iterable[Activity], token: str | None) -> None:
        self.is_listed = True
        there = {each.id: each for each in found}
        for each in self.current:
            if each.id not in there:
                self._changed(replace(each, state=ActivityState.DISMISSED))
        for each in there.values():
            self._changed(each)
        if token is not None:
            self._start_token(token)
        for waiter in self._waiters.values():
            if not waiter.done():
                waiter.set_result(self.current)
        self._waiters.clear()

    def started(self, activity: Activity) -> Activity:
        """The agent has accepted an activity of this process: as it is known."""
        if activity.id not in self.changes:
            self._changed(activity)
        return self.changes[activity.id][1]

    def _changed(self, activity: Activity) -> None:
        id = activity.id
        known = self.changes[id][1] if id in self.changes else None
        is_untold = id in self._untold
        if activity == known and not is_untold:
            return
        has_token = activity.push_token is not None and activity.state is not ActivityState.DISMISSED
        has_another = has_token and (known is None or known.push_token != activity.push_token)
        if activity != known:
            self._note(activity, has_another)
        self._untold.discard(id)
        self._tell(ActivityChanged(activity))
        if has_another or (has_token and is_untold):
            self._tell(ActivityTokenChanged(activity))

    def _note(self, activity: Activity, has_another_token: bool) -> None:
        self._revision += 1
        self.changes.pop(activity.id, None)
        self.changes[activity.id] = (self._revision, activity)
        if has_another_token:
            self.tokens.pop(activity.id, None)
            self.tokens[activity.id] = (self._revision, activity)
        if activity.state is ActivityState.DISMISSED:
            self.tokens.pop(activity.id, None)
            self._forget_oldest()

    def _tell(self, event: ActivityChanged | ActivityTokenChanged) -> None:
        if type(event) in self._kinds and not self._events.add(event):
            self._untold.add(event.activity.id)

    def _forget_oldest(self) -> None:
        dismissed = [id for id, (_, each) in self.changes.items() if each.state is ActivityState.DISMISSED]
        for id in dismissed[:-REMEMBERED_DISMISSALS]:
            del self.changes[id]
            self._untold.discard(id)

    def _start_token(self, token: str) -> None:
        if token != self.start_token:
            self._revision += 1
            self.start_token, self._start_revision = token, self._revision
            if StartTokenChanged in self._kinds:
                self._events.add(StartTokenChanged(token))

    # Who reads

    @property
    def waiting(self) -> int:
        """The number of those that wait for the list."""
        return len(self._waiters)

    def wait(self, number: int, waiter: Waiter[list[Activity]]) -> None:
        self._waiters[number] = waiter

    def forget(self, number: int) -> None:
        """Nobody waits for this list any more."""
        self._waiters.pop(number, None)

    def fail(self, error: Exception) -> None:
        for waiter in self._waiters.values():
            if not waiter.done():
                waiter.set_exception(error)
        self._waiters.clear()

    def tell(self, kind: type) -> None:
        """A handler for a kind of events is there: tells it what is known, and from now on what changes."""
        self._kinds.add(kind)
        if kind is StartTokenChanged and self.start_token is not None:
            self._events.add(StartTokenChanged(self.start_token))
        for each in self.current:
            if kind is ActivityChanged:
                self._tell(ActivityChanged(each))
            elif kind is ActivityTokenChanged and each.push_token is not None and each.is_running:
                self._tell(ActivityTokenChanged(each))

    def reader(self, changes: dict[str, Found], id: str | None = None) -> Reader[Activity]:
        """A reader of activities, or of one, which ends with its dismissal."""
        seen = 0
        gone = {
            revision for revision, each in changes.values() if id is None and each.state is ActivityState.DISMISSED}

        def take() -> tuple[Activity, ...] | None:
            nonlocal seen
            for revision, each in changes.values():
                if revision > seen and id in (None, each.id) and revision not in gone:
                    seen = revision
                    return (each,)
            is_over = id is not None and self.is_listed and (
                id not in self.changes or self.changes[id][1].state is ActivityState.DISMISSED)
            return () if is_over else None

        return Reader(take)

    def start_token_reader(self) -> Reader[str]:
        """A reader of the tokens of pushes that start an activity."""
        seen = 0

        def take() -> tuple[str, ...] | None:
            nonlocal seen
            if self.start_token is None or self._start_revision <= seen:
                return None
            seen = self._start_revision
            return (self.start_token,)

        return Reader(take)


class Reader(Generic[Value]):
    """`take` returns one value that is new to the reader, none where no more will come, and `None` for not yet."""

    def __init__(self, take: Callable[[], tuple[Value, ...] | None]) -> None:
        self.take = take


@dataclass(frozen=True)
class _Listed:
    activities: tuple[Activity, ...]
