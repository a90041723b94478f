import PushCore
import Synchronization

/// The limits for messages of FCM's API to one device: a number per minute, about twenty times that per hour, and for
/// messages with a collapse key a burst for each app. The burst is twenty, and then one in three minutes. FCM's own
/// figures are 240, 5,000, 20 and one.
package struct DeviceThrottle: Hashable, Sendable {
    /// The number of messages with a collapse key that an app may send to a device at once.
    package static let collapsibleBurst = 20.0
    /// The time after which it may send one more, in milliseconds.
    package static let collapsiblePause: Int64 = 180_000

    private var minute: TokenBucket
    private var hour: TokenBucket
    private var collapsible: [AppID: TokenBucket] = [:]

    /// Creates the throttle of a device to which nothing was sent yet.
    package init(perMinute: Int, now: Timestamp) {
        let perMinute = Double(max(1, perMinute))
        let perHour = perMinute * 125 / 6
        minute = TokenBucket(capacity: perMinute, perSecond: perMinute / 60, now: now)
        hour = TokenBucket(capacity: perHour, perSecond: perHour / 3600, now: now)
    }

    /// Counts a message in all limits, or in none.
    ///
    /// - Returns: `nil` when it may be sent; otherwise the seconds after which it may.
    package mutating func take(_ app: AppID, isCollapsible: Bool, at now: Timestamp) -> Int? {
        var waits = [minute.wait(at: now), hour.wait(at: now)]
        var bucket =
            collapsible[app]
            ?? TokenBucket(
                capacity: Self.collapsibleBurst, perSecond: 1000 / Double(Self.collapsiblePause), now: now)
        if isCollapsible { waits.append(bucket.wait(at: now)) }
        if let wait = waits.compactMap({ $0 }).max() { return max(1, Int((wait / 1000).rounded(.up))) }
        minute.spend()
        hour.spend()
        if isCollapsible {
            bucket.spend()
            collapsible[app] = bucket
        }
        return nil
    }
}

/// The throttles of the devices to which messages were sent lately. Thread-safe, and bounded: a device that is removed
/// starts anew.
final class DeviceThrottles: Sendable {
    private struct State {
        var current: [DeviceID: DeviceThrottle] = [:]
        var older: [DeviceID: DeviceThrottle] = [:]
    }

    private static let capacity = 100_000
    private let perMinute: Int
    private let state = Mutex(State())

    /// - Parameter perMinute: 0 for no throttle.
    init(perMinute: Int) { self.perMinute = perMinute }

    /// Counts one message for some devices in the limits of all of them, or in none.
    ///
    /// - Returns: `nil` when it may be sent; otherwise the index of a device for which it may not, and the seconds
    ///   after which it may.
    func take(
        _ asked: [(subject: TokenSubject, isCollapsible: Bool)], at now: Timestamp
    ) -> (place: Int, seconds: Int)? {
        guard perMinute > 0 else { return nil }
        return state.withLock { state in
            if state.current.count >= Self.capacity {
                state.older = state.current
                state.current = [:]
            }
            // A device is kept while it is used, even if it has to wait.
            for each in asked {
                let device = each.subject.device
                let older = state.older.removeValue(forKey: device)
                if state.current[device] == nil {
                    state.current[device] = older ?? DeviceThrottle(perMinute: perMinute, now: now)
                }
            }
            var changed: [DeviceID: DeviceThrottle] = [:]
            for (place, each) in asked.enumerated() {
                let device = each.subject.device
                guard var throttle = changed[device] ?? state.current[device] else { continue }
                if let seconds = throttle.take(each.subject.app, isCollapsible: each.isCollapsible, at: now) {
                    return (place, seconds)
                }
                changed[device] = throttle
            }
            state.current.merge(changed) { _, new in new }
            return nil
        }
    }
}
