import DeviceChannel
import Logging
import NIOCore
import Networking
import PushCore
import WebPushProtocol

/// The requests of a browser that need the register, and the opening of its session.
extension AutopushConnection {
    private static let failure = RepeatedMessage("a browser's request could not be answered", level: .warning)

    /// Opens the session of a known browser, or draws the id of a new one, which is stored with its first subscription: a browser
    /// without subscriptions has a new id at each connection.
    func open(_ id: PushClientID?) {
        channel?.channel?.pipeline.fireUserInboundEventTriggered(HandshakeCountHandler.LoggedIn())
        if context.logins.admit(at: SessionTime.now().uptime) != nil {
            context.metrics.login(.busy(retryAfter: 0))
            return answered(.unavailable)
        }
        guard let id else { return draw() }
        let known = DeviceCredentials(device: id.device, secret: id.secret)
        logIn(known) { connection, verdict in
            connection.context.metrics.login(MCSLoginAnswer(verdict))
            switch verdict {
            case .welcome: connection.loadChannels(of: known)
            // Unknown, or revoked: the browser drops its subscriptions when it gets another id.
            case .refused: connection.draw()
            case .blocked: connection.answered(.refused("the device is blocked"))
            case .unavailable: connection.answered(.unavailable)
            }
        }
    }

    private func logIn(
        _ credentials: DeviceCredentials,
        then body: @escaping @Sendable (AutopushConnection, DeviceLoginVerdict) -> Void
    ) {
        let login = DeviceLogin(device: credentials.device, secret: credentials.secret, received: [])
        context.gateway.open(login, connection: port) { [port] verdict in
            port.loginAnswered(verdict) { connection in
                if case .welcome(let session, let hasWaiting) = verdict {
                    connection.began(session, hasWaiting: hasWaiting, credentials)
                }
                body(connection, verdict)
            }
        }
    }

    private func began(_ session: DeviceSessionID, hasWaiting: Bool, _ credentials: DeviceCredentials) {
        sessionID = session
        self.credentials = credentials
        if !hasWaiting { flow.nothingWaits() }
        context.sessions?.opened(session, port)
        if let channel = channel?.channel { context.limiter.proven(channel) }
    }

    private func loadChannels(of credentials: DeviceCredentials) {
        ask { [enrolment = services.enrolment] in
            try await enrolment.channels(of: credentials.device)
        } then: { connection, channels in
            connection.channels = channels ?? []
            connection.answered(
                channels == nil
                    ? .unavailable : .opened(PushClientID(device: credentials.device, secret: credentials.secret)))
        }
    }

    private func draw() {
        ask { [enrolment = services.enrolment, key = origin.key] in
            try await enrolment.refusal(of: key, isCounted: false).map { .refused($0) }
                ?? Drawing.drawn(enrolment.draw())
        } then: { connection, drawing in
            switch drawing {
            case nil: connection.answered(.unavailable)
            case .refused(let reason)?: connection.answered(.refused(reason))
            case .drawn(let credentials)?:
                connection.credentials = credentials
                // It has shown the key that is needed, or none is needed. A browser without subscriptions stays connected too.
                if let channel = connection.channel?.channel { connection.context.limiter.proven(channel) }
                connection.answered(.drawn(PushClientID(device: credentials.device, secret: credentials.secret)))
            }
        }
    }

    private enum Drawing: Sendable {
        case drawn(DeviceCredentials)
        case refused(String)
    }

    private func answered(_ opening: AutopushSession.Opening) {
        perform(session.openingAnswered(opening, at: SessionTime.now().uptime))
        channel?.settle()
    }

    func register(_ id: PushChannelID, key: String?) {
        guard let credentials else { return }
        guard services.origin(origin.host, origin.isSecured) != nil else {
            Self.unknownOrigin.log(to: context.logger)
            return registered(.unavailable)
        }
        guard key.map({ VAPIDToken.key(ofSender: $0) != nil }) ?? true else {
            let reason = "key must be an uncompressed point of P-256 in base64url"
            return registered(.refused(id, status: 400, reason: reason))
        }
        guard sessionID == nil else { return makeChannel(id, key: key, credentials) }
        ask { [enrolment = services.enrolment, enrolmentKey = origin.key] in
            if let reason = try await enrolment.refusal(of: enrolmentKey, isCounted: true) { return reason }
            return try await enrolment.enrol(credentials) ? "" : "the id is another device's; connect again without it"
        } then: { connection, refusal in
            guard let refusal else { return connection.registered(.unavailable) }
            guard refusal.isEmpty else { return connection.registered(.refused(id, status: 401, reason: refusal)) }
            connection.logIn(credentials) { connection, verdict in
                guard case .welcome = verdict else { return connection.registered(.unavailable) }
                connection.makeChannel(id, key: key, credentials)
            }
        }
    }

    private static let unknownOrigin = RepeatedMessage(
        "a browser cannot be given an address: set media-url, or have it connect by a host's name", level: .warning)

    private func makeChannel(_ id: PushChannelID, key: String?, _ credentials: DeviceCredentials) {
        guard let root = services.origin(origin.host, origin.isSecured) else { return registered(.unavailable) }
        // A sender may know the address of an earlier time: a message can come before the answer of the register.
        let isNew = channels.insert(id).inserted
        ask { [enrolment = services.enrolment] in
            try await enrolment.register(id, key: key, of: credentials)
        } then: { connection, outcome in
            switch outcome {
            case nil: connection.registered(.unavailable)
            case .full?:
                if isNew { connection.channels.remove(id) }
                let reason = "a browser has at most \(BrowserEnrolment.mostChannels) subscriptions"
                connection.registered(.refused(id, status: 400, reason: reason))
            case .refused(let status, let reason)?:
                if isNew { connection.channels.remove(id) }
                connection.registered(.refused(id, status: status, reason: reason))
            case .registered(let component)?:
                connection.registered(.registered(id, address: "\(root)/wpush/v2/\(component)"))
            }
        }
    }

    private func registered(_ registration: AutopushSession.Registration) {
        perform(session.registrationAnswered(registration, at: SessionTime.now().uptime))
        channel?.settle()
    }

    func unregister(_ id: PushChannelID) {
        guard let device = sessionID?.device else { return }
        ask { [enrolment = services.enrolment] in
            try await enrolment.unregister(id, of: device)
        } then: { connection, done in
            if done != nil { connection.channels.remove(id) }
            let answer = connection.session.unregistrationAnswered(done == nil ? nil : id, at: SessionTime.now().uptime)
            connection.perform(answer)
            connection.channel?.settle()
        }
    }

    /// Withdraws a message whose subscription has ended. Where the register has the subscription all the same, an earlier connection
    /// has just made it: the browser is to connect again, and then gets the message.
    func withdraw(_ notification: OutgoingNotification) {
        guard let device = sessionID?.device else { return }
        let channel = ChannelMessage(bytes: notification.payload)?.channel
        ask { [enrolment = services.enrolment] in
            guard let channel else { return false }
            return try await enrolment.hasChannel(channel, of: device)
        } then: { connection, isThere in
            guard isThere == false else { return connection.end(.unavailable) }
            // One that could not be withdrawn waits until the next connection.
            connection.services.withdrawal.withdraw(notification.id, of: device) { _ in }
        }
    }

    /// Asks the register, and continues on the event loop; with `nil` where it could not answer.
    private func ask<Value: Sendable>(
        _ question: @escaping @Sendable () async throws -> Value,
        then body: @escaping @Sendable (AutopushConnection, Value?) -> Void
    ) {
        let logger = context.logger
        let work: @Sendable () async -> Void = { [port] in await Self.answer(question, to: port, logger, then: body) }
        Task { await work() }
    }

    private static func answer<Value: Sendable>(
        _ question: @escaping @Sendable () async throws -> Value, to port: AutopushPort, _ logger: Logger,
        then body: @escaping @Sendable (AutopushConnection, Value?) -> Void
    ) async {
        var answer: Value?
        do { answer = try await question() } catch { failure.log(error, to: logger) }
        port.onLoop { [answer] in body($0, answer) }
    }
}
