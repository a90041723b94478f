"""A client of Aldaba's agent for apps in Python: notifications, responses, pushes, and FCM's direct channel.

    from aldaba.agent import Agent, Content, Request

    with Agent("com.example.tea", secret=secret) as agent:
        agent.add(Request("tea", Content(title="Tea", body="It is ready.")))

`Agent` is for scripts and threads, `AsyncAgent` for asyncio.
"""

from aldaba._agent_activities import (
    ActivitiesDenied, Activity, ActivityAlert, ActivityContent, ActivityError, ActivityState, ActivityTooLarge,
    ChannelPushes, Dismissal, InvalidActivity, NoActivity, PushType, TooManyActivities)
from aldaba._agent_activity_clients import Activities, AsyncActivities
from aldaba._agent_async import AsyncAgent
from aldaba._agent_content import Action, Attachment, Content, Icon, Localization, Sound, TextInput
from aldaba._agent_extension import AsyncFetch, AsyncServiceExtension, Fetch, ServiceExtension
from aldaba._agent_handlers import Outcome
from aldaba._agent_notification import Notification, Request
from aldaba._agent_options import (
    DISMISS, OPEN, ActionOptions, AppState, AuthorizationOptions, AuthorizationStatus, BackgroundResult,
    CategoryOptions, InterruptionLevel, Kind, OpeningOutcome, PresentationOptions, Setting)
from aldaba._agent_sync import Agent
from aldaba._agent_triggers import Calendar, CalendarTrigger, RegionTrigger, TimeIntervalTrigger, Trigger
from aldaba._agent_values import (
    AgentError, Authorization, Category, DeletedMessages, Opening, Response, Settings, UpstreamEnd, UpstreamMessage,
    Welcome)

__all__ = [
    "DISMISS", "OPEN", "Action", "ActionOptions", "Activities", "ActivitiesDenied", "Activity", "ActivityAlert",
    "ActivityContent", "ActivityError", "ActivityState", "ActivityTooLarge", "Agent", "AgentError", "AppState",
    "AsyncActivities", "AsyncAgent", "AsyncFetch", "AsyncServiceExtension", "Attachment", "Authorization",
    "AuthorizationOptions", "AuthorizationStatus", "BackgroundResult", "Calendar", "CalendarTrigger", "Category",
    "CategoryOptions", "ChannelPushes", "Content", "DeletedMessages", "Dismissal", "Fetch", "Icon",
    "InterruptionLevel", "InvalidActivity", "Kind", "Localization", "NoActivity", "Notification", "Opening",
    "OpeningOutcome", "Outcome", "PresentationOptions", "PushType", "RegionTrigger", "Request", "Response",
    "ServiceExtension", "Setting", "Settings", "Sound", "TextInput", "TimeIntervalTrigger", "TooManyActivities",
    "Trigger", "UpstreamEnd", "UpstreamMessage", "Welcome"]
