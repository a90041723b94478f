"""Watching devices: what one watcher has told, and the changes that wait for whoever reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aldaba._relay_types import Change, ChangeKind, Device, DeviceFilter, RelayError, Status

FILTER_LIMIT = 16


class Watch:
    """One watcher. Of each device at most one change waits, so that a reader who is slow costs no more than that."""

    def __init__(self, filters: Iterable[DeviceFilter]) -> None:
        self.filters = tuple(filters)
        self._known: dict[str, Device] = {}
        # The devices told since the agent was asked again; None once it has told all of them.
        self._fresh: set[str] | None = set()
        self._has_begun = self._is_completed = False
        self._waiting: dict[str, Change] = {}
        self._completion: Change | None = None
        self._failure: Change | None = None

    def begins(self) -> None:
        """From now on the agent tells all devices, perhaps anew."""
        self._has_begun, self._fresh = True, set()

    def device(self, device: Device) -> None:
        """A device is there, or is another."""
        if not self._has_begun:
            return
        if self.filters and not any(each.passes(device) for each in self.filters):
            return self.removed(device.id)
        if self._fresh is not None:
            self._fresh.add(device.id)
        known = self._known.get(device.id)
        self._known[device.id] = device
        if known is None:
            # One that went and came back while nobody read has changed, for the reader.
            went = self._waiting.pop(device.id, None)
            self._waiting[device.id] = Change(ChangeKind.UPDATED if went else ChangeKind.ADDED, device)
        elif known != device:
            waiting = self._waiting.get(device.id)
            self._waiting[device.id] = Change(waiting.kind if waiting else ChangeKind.UPDATED, device)

    def removed(self, id: str) -> None:
        """A device is none of the person's any more, or does not pass the filters."""
        device = self._known.pop(id, None)
        if device is not None:
            waiting = self._waiting.pop(id, None)
            if waiting is None or waiting.kind is not ChangeKind.ADDED:
                self._waiting[id] = Change(ChangeKind.REMOVED, device)

    def completed(self) -> None:
        """All devices were told: those that were not are gone."""
        if not self._has_begun:
            return
        if self._fresh is not None:
            for id in [each for each in self._known if each not in self._fresh]:
                self.removed(id)
        self._fresh = None
        if not self._is_completed:
            self._is_completed = True
            self._completion = Change(ChangeKind.COMPLETED)

    def failed(self, reason: str) -> None:
        """Devices cannot be found now."""
        self._failure = Change(ChangeKind.FAILED, reason=reason)

    def take(self) -> Change | None:
        """Removes and returns what is told next: devices first, in the order of their changes."""
        if self._waiting:
            return self._waiting.pop(next(iter(self._waiting)))
        change = self._failure or self._completion
        if change is self._failure:
            self._failure = None
        else:
            self._completion = None
        return change


def gather(found: dict[str, Device], change: Change) -> None:
    """Takes a change of a device into a list of all. Raises `RelayError` where devices cannot be found now."""
    if change.kind is ChangeKind.FAILED:
        raise RelayError(Status.NETWORK_UNAVAILABLE, change.reason)
    if change.kind is ChangeKind.REMOVED and change.device is not None:
        found.pop(change.device.id, None)
    elif change.device is not None:
        found[change.device.id] = change.device


def agent_filters(watches: Sequence[Watch]) -> list[dict[str, object]]:
    """The filters of all watchers together, for the agent; none of them where a watcher wants every device."""
    if not all(watch.filters for watch in watches):
        return []
    wanted = [each.request() for each in dict.fromkeys(filter for watch in watches for filter in watch.filters)]
    return wanted if len(wanted) <= FILTER_LIMIT else []
