import PushCore

/// The schedule of an app's messages to its webhook: the next message and its time. A value.
///
/// Messages are sent one at a time, in order for each device. A failing endpoint is paused for a while; a message that
/// it refuses delays only those of its own device. Pauses double from one second to five minutes.
struct WebhookSchedule: Sendable {
    /// The endpoint's response to a message.
    enum Outcome: Hashable, Sendable {
        /// 2xx: the endpoint accepted it.
        case taken
        /// 4xx: the endpoint refuses this message.
        case refused
        /// The endpoint could not be reached, was too busy, or failed.
        case failed
    }

    private struct Pause: Sendable {
        var failures = 0
        var until = Timestamp(rawValue: .min)

        mutating func fail(at now: Timestamp, spread: Double) {
            let doubled = Double(1 << min(failures, 9)) * 1000
            failures += 1
            until = now.adding(milliseconds: Int64(min(doubled, 300_000) * (0.75 + 0.5 * spread)))
        }
    }

    private var endpoint = Pause()
    private var devices: [DeviceID: Pause] = [:]

    /// The time at which the endpoint may be called again.
    var endpointRestsUntil: Timestamp { endpoint.until }

    /// The next of some queued messages, which are in order; `nil` when each has to wait.
    func next(of messages: [WaitingMessage], at now: Timestamp) -> WaitingMessage? {
        guard endpoint.until <= now else { return nil }
        return messages.first { devices[$0.message.device].map { $0.until <= now } ?? true }
    }

    /// The time until a message may be sent; `nil` when none is delayed.
    func rest(at now: Timestamp) -> Duration? {
        let ends = ([endpoint.until] + devices.values.map(\.until)).filter { $0 > now }
        return ends.min().map { $0.duration(since: now) }
    }

    /// Records the outcome of a message.
    ///
    /// - Parameter spread: A random number `0 ... 1`, so that webhooks are not retried at the same time.
    mutating func recordOutcome(_ outcome: Outcome, of waiting: WaitingMessage, at now: Timestamp, spread: Double) {
        let device = waiting.message.device
        switch outcome {
        case .taken:
            endpoint = Pause()
            devices[device] = nil
        case .refused:
            endpoint = Pause()
            devices[device, default: Pause()].fail(at: now, spread: spread)
        case .failed: endpoint.fail(at: now, spread: spread)
        }
    }

    /// Deletes devices without queued messages.
    mutating func keep(only waiting: Set<DeviceID>) { devices = devices.filter { waiting.contains($0.key) } }
}
