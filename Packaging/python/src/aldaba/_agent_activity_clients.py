"""The Live Activities of an app, as `Agent` and `AsyncAgent` have them in `activities`."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union

from aldaba import _agent_activities as requests
from aldaba._agent_activities import (
    Activity, ActivityAlert, ActivityContent, Dismissal, DismissalPolicy, Pushes, PushType, new_activity)
from aldaba._agent_events import ActivityChanged, ActivityTokenChanged, StartTokenChanged
from aldaba._agent_options import AuthorizationStatus

if TYPE_CHECKING:
    from aldaba._agent_async import AsyncAgent
    from aldaba._agent_sync import Agent

NothingType = TypeVar("NothingType")


class ActivityHandlers(Generic[NothingType]):
    """The handlers of Live Activities, each of which is used as a decorator.

    A handler is told first what there is, and then what changes. It is called as the client's other handlers are.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def push_to_start_token(self) -> str | None:
        """The token of pushes that start an activity of any type; `None` until the agent has told it."""
        self._observe()
        token: str | None = self._client._protocol.activities.start_token
        return token

    def on_update(self, handler: Callable[[Activity], NothingType]) -> Callable[[Activity], NothingType]:
        """Handles an activity that has begun, by the app or by a push, or has changed.

        `DISMISSED` is its last state.
        """
        self._set(ActivityChanged, handler)
        return handler

    def on_push_token(self, handler: Callable[[Activity], NothingType]) -> Callable[[Activity], NothingType]:
        """Handles an activity whose push token is known, or is another one."""
        self._set(ActivityTokenChanged, handler)
        return handler

    def on_push_to_start_token(self, handler: Callable[[str], NothingType]) -> Callable[[str], NothingType]:
        """Handles the token of pushes that start an activity, when it is known or is another one."""
        self._set(StartTokenChanged, handler)
        return handler

    def _set(self, kind: type, handler: Callable[..., Any]) -> None:
        self._client._set(kind, handler)
        self._observe()
        self._client._did(lambda: self._client._protocol.activities.tell(kind))
        self._client._handlers_changed()

    def _observe(self) -> None:
        self._client._did(self._client._protocol.observe_activities)


class Activities(ActivityHandlers[None]):
    """The Live Activities of an app. Methods wait for the agent's answer, and raise `ActivityError` where it refuses.

    The agent tells of activities from the first use on.
    """

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self._agent = agent

    def are_enabled(self) -> bool:
        """Whether the app may start activities: the person has not denied its notifications."""
        return self._agent.settings().authorization_status != AuthorizationStatus.DENIED

    def current(self) -> list[Activity]:
        """The activities that are not dismissed; `is_running` of each says whether it takes updates."""
        return self._agent._answer(self._agent._protocol.list_activities, self._agent._timeout)

    def request(
        self, attributes: object, state: object, *, attributes_type: str | None = None, pushes: Pushes = PushType.NONE,
        stale_date: datetime.datetime | None = None, relevance_score: float = 0.0, identifier: str | None = None
    ) -> Activity:
        """Starts an activity.

        `attributes` and the content state are dataclasses or JSON values. `attributes_type` is the name of the type in
        the manifest, by default that of the dataclass. `identifier` has 32 hexadecimal digits; one is made by default.
        """
        content = ActivityContent(state, stale_date, relevance_score)
        activity = new_activity(attributes, content, attributes_type, identifier)
        call = requests.start(activity, pushes)
        self._observe()
        self._agent._ask(call, self._agent._timeout)
        with self._agent._changed:
            started = self._agent._protocol.activities.started(activity)
            self._agent._changed.notify_all()
        return started

    def update(
        self, activity: Activity | str, state: object, *, stale_date: datetime.datetime | None = None,
        relevance_score: float = 0.0, alert: ActivityAlert | None = None
    ) -> None:
        """Replaces the content of an activity, which is named by its id too. With an alert it draws attention."""
        content = ActivityContent(state, stale_date, relevance_score)
        self._agent._ask(requests.update(activity, content, alert), self._agent._timeout)

    def end(
        self, activity: Activity | str, state: object | None = None, *, stale_date: datetime.datetime | None = None,
        relevance_score: float = 0.0, dismissal: DismissalPolicy = Dismissal.STANDARD
    ) -> None:
        """Ends an activity, with its last content where a state is given.

        `dismissal` says when it leaves the screen; at a moment, it is four hours later at most.
        """
        content = None if state is None else ActivityContent(state, stale_date, relevance_score)
        self._agent._ask(requests.end(activity, content, dismissal), self._agent._timeout)

    def updates(self, activity: Activity | str | None = None, *, timeout: float | None = None) -> Iterator[Activity]:
        """The activities that there are, then each that begins or changes; of one activity, until it is dismissed.

        A slow reader gets the newest of each. Ends as `Agent.responses` does.
        """
        self._observe()
        known = self._agent._protocol.activities
        with self._agent._changed:
            reader = known.reader(known.changes, _named(activity))
        return self._agent._follow(reader, timeout)

    def push_tokens(
        self, activity: Activity | str | None = None, *, timeout: float | None = None
    ) -> Iterator[Activity]:
        """The activities that have a push token, then each whose token is known or is another one."""
        self._observe()
        known = self._agent._protocol.activities
        with self._agent._changed:
            reader = known.reader(known.tokens, _named(activity))
        return self._agent._follow(reader, timeout)

    def push_to_start_tokens(self, timeout: float | None = None) -> Iterator[str]:
        """The token of pushes that start an activity, as soon as it is known, and each that takes its place."""
        self._observe()
        return self._agent._follow(self._agent._protocol.activities.start_token_reader(), timeout)


class AsyncActivities(ActivityHandlers[Union[None, Awaitable[None]]]):
    """The Live Activities of an app. The methods are those of `Activities`, and are awaited."""

    def __init__(self, agent: AsyncAgent) -> None:
        super().__init__(agent)
        self._agent = agent

    async def are_enabled(self) -> bool:
        """Whether the app may start activities: the person has not denied its notifications."""
        return (await self._agent.settings()).authorization_status != AuthorizationStatus.DENIED

    async def current(self) -> list[Activity]:
        """The activities that are not dismissed; `is_running` of each says whether it takes updates."""
        return await self._agent._answer(self._agent._protocol.list_activities)

    async def request(
        self, attributes: object, state: object, *, attributes_type: str | None = None, pushes: Pushes = PushType.NONE,
        stale_date: datetime.datetime | None = None, relevance_score: float = 0.0, identifier: str | None = None
    ) -> Activity:
        """Starts an activity. The arguments are those of `Activities.request`."""
        content = ActivityContent(state, stale_date, relevance_score)
        activity = new_activity(attributes, content, attributes_type, identifier)
        call = requests.start(activity, pushes)
        self._observe()
        await self._agent._ask(call)
        started = self._agent._protocol.activities.started(activity)
        self._agent._tell()
        return started

    async def update(
        self, activity: Activity | str, state: object, *, stale_date: datetime.datetime | None = None,
        relevance_score: float = 0.0, alert: ActivityAlert | None = None
    ) -> None:
        """Replaces the content of an activity, which is named by its id too. With an alert it draws attention."""
        content = ActivityContent(state, stale_date, relevance_score)
        await self._agent._ask(requests.update(activity, content, alert))

    async def end(
        self, activity: Activity | str, state: object | None = None, *, stale_date: datetime.datetime | None = None,
        relevance_score: float = 0.0, dismissal: DismissalPolicy = Dismissal.STANDARD
    ) -> None:
        """Ends an activity, with its last content where a state is given.

        `dismissal` says when it leaves the screen; at a moment, it is four hours later at most.
        """
        content = None if state is None else ActivityContent(state, stale_date, relevance_score)
        await self._agent._ask(requests.end(activity, content, dismissal))

    def updates(
        self, activity: Activity | str | None = None, *, timeout: float | None = None
    ) -> AsyncIterator[Activity]:
        """The activities that there are, then each that begins or changes; of one activity, until it is dismissed.

        A slow reader gets the newest of each. Ends as `AsyncAgent.responses` does.
        """
        self._observe()
        known = self._agent._protocol.activities
        reader = known.reader(known.changes, _named(activity))
        return self._agent._follow(reader, timeout)

    def push_tokens(
        self, activity: Activity | str | None = None, *, timeout: float | None = None
    ) -> AsyncIterator[Activity]:
        """The activities that have a push token, then each whose token is known or is another one."""
        self._observe()
        known = self._agent._protocol.activities
        reader = known.reader(known.tokens, _named(activity))
        return self._agent._follow(reader, timeout)

    def push_to_start_tokens(self, timeout: float | None = None) -> AsyncIterator[str]:
        """The token of pushes that start an activity, as soon as it is known, and each that takes its place."""
        self._observe()
        return self._agent._follow(self._agent._protocol.activities.start_token_reader(), timeout)


def _named(activity: Activity | str | None) -> str | None:
    return None if activity is None else requests.identifier_of(activity)
