import PushCore
import WebPushProtocol

/// Decides about the apps of UnifiedPush on this device: a value, events in and directives out.
///
/// Guarantees: an app is answered once its registration is stored and has an endpoint, or with the reason why it has none. A token
/// belongs to the app that registered it first. An endpoint that changes is sent to its app.
package struct UnifiedPushEngine: Sendable {
    /// The maximum number of registrations: as many as the server allows for a device.
    package static let mostRegistrations = 1_000
    /// The maximum number of calls that wait for the server.
    package static let mostCalls = 256

    /// An event.
    package enum Event: Sendable {
        /// The agent has started, with the registrations that are stored.
        case started([UnifiedPushRegistration])
        /// An app registers; the channel is a new random one.
        case register(UnifiedPushRegister, UnifiedPushCall, channel: PushChannelID)
        /// An app ends its registration.
        case unregister(token: String)
        /// A change is stored.
        case committed(UnifiedPushResult)
        /// The server has given the endpoint of a registration's channel; one that differs from the known one shows that the server
        /// has another address.
        case endpoint(String, token: String, channel: PushChannelID)
        /// The server refuses a registration.
        case refused(token: String, channel: PushChannelID)
        /// The server cannot be reached now; it is asked again.
        case serverUnreachable
        /// The server has forgotten a channel.
        case channelEnded(PushChannelID)
        /// The device has a new identity at the server: all endpoints are invalid.
        case identityChanged
        /// An app has appeared on the bus.
        case appeared(service: String)
        /// The first message that waits for an app.
        case read(UnifiedPushMessage?, service: String)
        /// The outcome of a delivery.
        case delivered(NotificationID, service: String, UnifiedPushOutcome)
        /// The pause of this number is over.
        case rested(service: String, Int)
        /// The store has failed.
        case storeFailed
    }

    /// An action for the agent; directives are performed in order.
    package enum Directive: Sendable, Hashable {
        /// Store a change; the answer is ``Event/committed(_:)``.
        case change(UnifiedPushChange)
        /// Ask the server for the endpoints of channels, and have it forget others.
        case askForChannels
        /// Answer a call of `Register`: the reason of a failure, or `nil` for success.
        case answer(UnifiedPushCall, UnifiedPushFailure?)
        /// Have it reported when the app appears on the bus.
        case watch(service: String)
        /// Report it no longer.
        case unwatch(service: String)
        /// Tell the app its endpoint.
        case sendEndpoint(UnifiedPushRegistration)
        /// Tell the app that its registration has ended; `isConfirmation`: since the app has ended it.
        case sendUnregistered(UnifiedPushRegistration, isConfirmation: Bool)
        /// Read the first message that waits for an app, and answer with ``Event/read(_:service:)``.
        case read(service: String)
        /// Deliver a message, and answer with ``Event/delivered(_:service:_:)``.
        case deliver(UnifiedPushMessage, version: UnifiedPushVersion)
        /// Answer after this time with ``Event/rested(service:_:)``.
        case rest(Duration, service: String, Int)
    }

    /// The registrations by their tokens, as they are stored.
    package private(set) var registrations: [String: UnifiedPushRegistration] = [:]
    /// The calls that wait for a registration's endpoint, by its token.
    private var calls: [String: [UnifiedPushCall]] = [:]
    /// The registrations that their apps have ended, until that is stored.
    private var unregistering: Set<String> = []
    /// Whether the server could not be reached when it was asked last.
    private var isServerUnreachable = false
    /// The queues of apps by their bus names.
    private var queues: [String: UnifiedPushQueue] = [:]

    /// An engine without registrations.
    package init() {}

    /// Handles an event.
    ///
    /// - Returns: The directives that follow, in order.
    package mutating func handle(_ event: Event) -> [Directive] {
        switch event {
        case .started(let stored): return started(stored)
        case .register(let asked, let call, let channel): return register(asked, call: call, channel: channel)
        case .unregister(let token):
            guard registrations[token] != nil, unregistering.insert(token).inserted else { return [] }
            return [.change(.unregistered(token: token, note: "its app has ended the registration"))]
        case .committed(let result): return committed(result)
        case .endpoint(let endpoint, let token, let channel):
            isServerUnreachable = false
            guard let known = registrations[token], known.channel == channel, known.endpoint != endpoint else {
                return []
            }
            let change = Directive.change(.endpoint(endpoint, token: token, channel: channel))
            guard known.endpoint != nil, registrations.count > 1 else { return [change] }
            for other in registrations.keys where other != token { registrations[other]?.endpoint = nil }
            return [change, .change(.addressChanged(except: token)), .askForChannels]
        case .refused(let token, let channel):
            isServerUnreachable = false
            guard registrations[token]?.channel == channel else { return [] }
            // It is not asked for again and again; the app registers anew.
            return answerCalls(of: token, .actionRequired)
                + [.change(.unregistered(token: token, note: "the server has refused the registration"))]
        case .serverUnreachable:
            isServerUnreachable = true
            return calls.keys.sorted().flatMap { answerCalls(of: $0, .network) }
        case .channelEnded(let channel): return [.change(.channelEnded(channel))]
        case .identityChanged:
            isServerUnreachable = false
            for token in registrations.keys { registrations[token]?.endpoint = nil }
            return registrations.isEmpty ? [] : [.askForChannels]
        case .appeared(let service): return queues[service] == nil ? [] : queue(service, .appeared)
        case .read(let message, let service): return queue(service, .read(message))
        case .delivered(let id, let service, let outcome): return queue(service, .delivered(id, outcome))
        case .rested(let service, let number): return queue(service, .rested(number))
        case .storeFailed: return queues.keys.sorted().flatMap { queue($0, .storeFailed) }
        }
    }

    private mutating func started(_ stored: [UnifiedPushRegistration]) -> [Directive] {
        for registration in stored { registrations[registration.token] = registration }
        let services = Set(stored.map(\.service)).sorted()
        return [.askForChannels] + services.map { .watch(service: $0) } + services.flatMap { queue($0, .stored) }
    }

    private mutating func register(
        _ asked: UnifiedPushRegister, call: UnifiedPushCall, channel: PushChannelID
    ) -> [Directive] {
        let known = registrations[asked.token]
        guard known == nil || known?.service == asked.service else { return [.answer(call, .unauthorized)] }
        guard known != nil || registrations.count < Self.mostRegistrations else {
            return [.answer(call, .actionRequired)]
        }
        guard calls.values.reduce(0, { $0 + $1.count }) < Self.mostCalls else {
            return [.answer(call, .internalError)]
        }
        var registration = UnifiedPushRegistration(
            token: asked.token, service: asked.service, description: asked.description, vapid: asked.vapid,
            version: asked.version, channel: channel)
        // Another key needs another subscription, and so another endpoint.
        let isSameChannel = known?.vapid == asked.vapid && known != nil
        if isSameChannel, let known { (registration.channel, registration.endpoint) = (known.channel, known.endpoint) }
        calls[asked.token, default: []].append(call)
        let ended = isSameChannel ? nil : known?.channel
        return [.change(.registered(registration, ending: ended))]
    }

    private mutating func committed(_ result: UnifiedPushResult) -> [Directive] {
        switch result {
        case .registered(let registration):
            registrations[registration.token] = registration
            let first: [Directive] = [.watch(service: registration.service)]
            let waiting: [Directive] =
                isServerUnreachable
                ? answerCalls(of: registration.token, .network) + [.askForChannels] : [.askForChannels]
            let ready = registration.endpoint == nil ? waiting : succeed(registration.token)
            return first + ready + queue(registration.service, .appeared)
        case .endpoint(let endpoint, let token):
            guard registrations[token] != nil else { return [] }
            registrations[token]?.endpoint = endpoint
            return succeed(token)
        case .unregistered(let token): return unregistered(token)
        case .channelEnded: return []
        case .stored(let service): return queue(service, .stored)
        case .ended(let service): return queue(service, .ended)
        case .nothing: return []
        }
    }

    private mutating func unregistered(_ token: String) -> [Directive] {
        guard let ended = registrations.removeValue(forKey: token) else { return [] }
        let isConfirmation = unregistering.remove(token) != nil
        let told =
            answerCalls(of: token, .internalError)
            + [.sendUnregistered(ended, isConfirmation: isConfirmation), .askForChannels]
        guard !registrations.values.contains(where: { $0.service == ended.service }) else { return told }
        queues[ended.service] = nil
        return told + [.unwatch(service: ended.service)]
    }

    /// Answers the calls for a registration that has its endpoint, and sends the endpoint.
    private mutating func succeed(_ token: String) -> [Directive] {
        guard let registration = registrations[token] else { return [] }
        return answerCalls(of: token, nil) + [.sendEndpoint(registration)]
    }

    private mutating func answerCalls(of token: String, _ failure: UnifiedPushFailure?) -> [Directive] {
        (calls.removeValue(forKey: token) ?? []).map { .answer($0, failure) }
    }

    private mutating func queue(_ service: String, _ event: UnifiedPushQueue.Event) -> [Directive] {
        queues[service, default: UnifiedPushQueue()].handle(event).map { directive in
            switch directive {
            case .read: .read(service: service)
            case .deliver(let message):
                .deliver(message, version: registrations[message.token]?.version ?? .two)
            case .end(let id, let state, let note): .change(.ended(id, service: service, state, note: note))
            case .endAttemptedOnce(let reason): .change(.unreachable(service: service, reason: reason))
            case .rest(let duration, let number): .rest(duration, service: service, number)
            }
        }
    }
}
