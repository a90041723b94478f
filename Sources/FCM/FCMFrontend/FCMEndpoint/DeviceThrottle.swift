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

    /// A bucket that fills steadily.
    private struct Bucket: Hashable, Sendable {
        var tokens: Double
        var filledAt: Timestamp

        /// - Returns: `nil` when there was one; otherwise the seconds after which there is.
        mutating func wait(at now: Timestamp, capacity: Double, perMillisecond rate: Double) -> Int? {
            let elapsed = Double(max(0, now.milliseconds(since: filledAt)))
            tokens = min(capacity, tokens + elapsed * rate)
            filledAt = now
            return tokens >= 1 ? nil : max(1, Int(((1 - tokens) / rate / 1000).rounded(.up)))
        }
    }

    private let perMinute: Double
    private var minute: Bucket
    private var hour: Bucket
    private var collapsible: [AppID: Bucket] = [:]

    /// Creates the throttle of a device to which nothing was sent yet.
    package init(perMinute: Int, now: Timestamp) {
        self.perMinute = Double(max(1, perMinute))
        minute = Bucket(tokens: self.perMinute, filledAt: now)
        hour = Bucket(tokens: self.perMinute * 125 / 6, filledAt: now)
    }

    /// Counts a message in all limits, or in none.
    ///
    /// - Returns: `nil` when it may be sent; otherwise the seconds after which it may.
    package mutating func take(_ app: AppID, isCollapsible: Bool, at now: Timestamp) -> Int? {
        var waits = [
            minute.wait(at: now, capacity: perMinute, perMillisecond: perMinute / 60_000),
            hour.wait(at: now, capacity: perMinute * 125 / 6, perMillisecond: perMinute * 125 / 6 / 3_600_000),
        ]
        var bucket = collapsible[app] ?? Bucket(tokens: Self.collapsibleBurst, filledAt: now)
        if isCollapsible {
            waits.append(
                bucket.wait(
                    at: now, capacity: Self.collapsibleBurst, perMillisecond: 1 / Double(Self.collapsiblePause)))
        }
        if let wait = waits.compactMap({ $0 }).max() { return wait }
        minute.tokens -= 1
        hour.tokens -= 1
        if isCollapsible {
            bucket.tokens -= 1
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
