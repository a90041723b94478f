import PushModel

/// Which of an app's messages goes to its webhook next, and when. A value.
///
/// One at a time, in order for each device. An endpoint that is ill is left alone for a while; a message that it will
/// not have holds up its own device alone. Pauses double from one second to five minutes.
struct WebhookSchedule: Sendable {
    /// What the endpoint said to a message.
    enum Outcome: Hashable, Sendable {
        /// 2xx: it has it.
        case taken
        /// 4xx: it does not want this one as it is.
        case refused
        /// It could not be asked, was too busy, or failed.
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

    /// When the endpoint may be asked again.
    var endpointRestsUntil: Timestamp { endpoint.until }

    /// The next of some waiting messages, which are in order; `nil` when each has to wait.
    func next(of messages: [WaitingMessage], at now: Timestamp) -> WaitingMessage? {
        guard endpoint.until <= now else { return nil }
        return messages.first { devices[$0.message.device].map { $0.until <= now } ?? true }
    }

    /// How long nothing can be done; `nil` when nothing is held up.
    func rest(at now: Timestamp) -> Duration? {
        let ends = ([endpoint.until] + devices.values.map(\.until)).filter { $0 > now }
        return ends.min().map { $0.duration(since: now) }
    }

    /// Takes in what became of a message.
    ///
    /// - Parameter spread: A random number `0 ... 1`, so that webhooks do not come back together.
    mutating func ended(_ waiting: WaitingMessage, _ outcome: Outcome, at now: Timestamp, spread: Double) {
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

    /// Forgets devices of which nothing waits any more.
    mutating func keep(only waiting: Set<DeviceID>) { devices = devices.filter { waiting.contains($0.key) } }
}
