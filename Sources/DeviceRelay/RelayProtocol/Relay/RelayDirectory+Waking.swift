import Foundation

/// A push that is to wake a device.
public struct RelayPush: Hashable, Sendable {
    /// The device.
    public var device: String
    /// The account that the device belongs to.
    public var account: RelayDirectory.AccountID
    /// How it is woken.
    public var channel: RelayWakeChannel
    /// The expiration of the last waiting item, in milliseconds since 1970.
    public var until: Int64

    /// Names a push.
    public init(device: String, account: RelayDirectory.AccountID, channel: RelayWakeChannel, until: Int64) {
        self.device = device
        self.account = account
        self.channel = channel
        self.until = until
    }
}

/// A device of an account, as it was kept.
public struct StoredDevice: Hashable, Sendable {
    /// The device's description of itself.
    public var device: RelayDevice
    /// When it was there last, in milliseconds since 1970.
    public var seen: Int64
    /// How it can be woken; `nil` for not at all.
    public var wake: RelayWakeChannel?

    /// Names a device.
    public init(device: RelayDevice, seen: Int64, wake: RelayWakeChannel? = nil) {
        self.device = device
        self.seen = seen
        self.wake = wake
    }
}

/// Devices that have no session, and can be woken by a push.
///
/// Guarantees: a device is woken for a message that has a deadline and is no piece of something large; at most once in
/// ``pushPause``, however many are queued. A failure to wake it is reported to all senders that wait for nothing else.
extension RelayDirectory {
    /// How long after a push for a device there is no other, in milliseconds.
    public static let pushPause: Int64 = 2_000

    /// A device without a session, as the others see it.
    func offlineDescription(of device: RelayDevice, wake: RelayWakeChannel?) -> RelayDevice {
        var device = device
        device.presence = canWake && wake != nil ? .wakeable : .offline
        for index in device.apps.indices { device.apps[index].presence = device.presence }
        return device
    }

    /// Keeps a message for a device that is away, where its sender wants that or the device can be woken.
    mutating func hold(
        _ route: RelayRoute, for entry: Entry, _ id: AccountID, from sender: RelaySession, at now: Int64
    ) -> Directive? {
        let channel = canWake && !route.isBulk && route.deadline != nil ? entry.wake : nil
        guard let deadline = route.deadline, route.waits || channel != nil,
            waiting.hold(
                route, for: entry.device.id, id, from: sender, isForWaking: channel != nil, at: now)
        else { return .send(.undelivered(id: route.id, .unavailable), to: sender) }
        guard let channel, entry.pushedAt.map({ now >= $0 + Self.pushPause }) ?? true else {
            return .wake(at: deadline)
        }
        accounts[id]?.entries[entry.device.id]?.pushedAt = now
        return .push(RelayPush(device: entry.device.id, account: id, channel: channel, until: deadline))
    }

    /// A device takes back what waits for another one.
    public mutating func withdraw(_ id: UUID, for device: String, by session: RelaySession) {
        waiting.withdraw(id, for: device, from: session.device)
    }

    /// A device could not be woken.
    ///
    /// - Parameter isDead: Whether its channel is invalid, according to the push service.
    public mutating func notWoken(_ push: RelayPush, isDead: Bool) -> [Directive] {
        guard var account = accounts[push.account], let entry = account.entries[push.device],
            entry.wake == push.channel, entry.session == nil
        else { return [] }
        var directives = waiting.notWoken(push.device)
        guard isDead else { return directives }
        let device = offlineDescription(of: entry.device, wake: nil)
        let wasTold = entry.graceEnd == nil
        account.entries[push.device]?.wake = nil
        if wasTold {
            account.entries[push.device]?.device = device
            Self.change(push.device, &account)
            directives += Self.tellChanges(&account)
        }
        accounts[push.account] = account
        let kept = StoredDevice(device: wasTold ? device : entry.device, seen: entry.since)
        return directives + [.keep(kept, push.account)]
    }
}
