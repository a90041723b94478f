import AgentEngine
import AgentProtocol
import DeviceChannel
import Logging
import Networking
import PushCore

/// The registrations of apps.
extension ServerLink {
    /// An app is on this device, or has another team now.
    package func appInstalled(_ app: BundleID, team: TeamID) { registrations.install(app, team: team) }

    /// An app was removed from this device. Its registration on the server ends by ``requestTokenEnd(_:)``.
    package func appRemoved(_ app: BundleID) {
        unknownApps.remove(app)
        registrations.remove(app)
    }

    /// Requests a device token for an app; the delegate receives the token or a refusal.
    package func requestToken(_ app: BundleID) { setRequestedChange(.token, for: app) }

    /// An app wants its token to end; it takes the place of a request for one.
    package func requestTokenEnd(_ app: BundleID) {
        unknownApps.remove(app)
        setRequestedChange(.end, for: app)
    }

    private func setRequestedChange(_ change: RegistrationFlow.RequestedChange, for app: BundleID) {
        registrations.setRequestedChange(change, for: app)
        registrationSignals.continuation.yield()
    }

    /// Processes the requested changes as they come, until the task is cancelled.
    func runRegistrationLoop() async {
        var backOff = settings.backOff
        for await _ in registrationSignals.stream {
            while !Task.isCancelled, await !processRegistrations() {
                await pause(&backOff)
            }
            backOff.reset()
        }
    }

    /// The code with which the server refuses an app that its register does not have, or not for this team.
    package static let unknownApp = "INVALID_SENDER"

    /// Asks again for apps that the server's register did not have, until the task is cancelled.
    func runRefusalLoop() async {
        var backOff = settings.backOff
        for await _ in refusalSignals.stream {
            await pause(&backOff)
            if unknownApps.isEmpty { backOff.reset() }
            for app in unknownApps where registrations.requestedChange(of: app) == nil { requestToken(app) }
        }
    }

    /// - Returns: `false` when there is a reason to try again soon.
    private func processRegistrations() async -> Bool {
        var isDone = true
        registrations.beginRound()
        // Without an identity the session's keeper is enrolling, and signals afterwards.
        while let identity {
            do {
                let next = try registrations.next {
                    try parts.store.registeredTeam(app: $0, environment: settings.environment)
                }
                guard let next else { break }
                isDone = await process(next, as: identity) && isDone
            } catch {
                delegate?.storeUnusable(error)
                return false
            }
        }
        return isDone
    }

    /// - Returns: Whether the server has answered, and that is stored.
    private func process(_ request: RegistrationFlow.Request, as identity: DeviceIdentity) async -> Bool {
        do throws(EnrolmentError) {
            let token = try await ask(for: request, as: identity)
            // The answer belongs to the identity that asked, which may be another meanwhile.
            guard self.identity == identity else { return true }
            do {
                try keep(registrations.record(of: request), token, of: request)
            } catch {
                throw .unavailable("the agent's store: \(error)")
            }
            fulfilled(request, token)
            return true
        } catch .refused(let code) {
            return refused(request, code: code)
        } catch .notAuthenticated {
            await examine(identity)
        } catch {
            logger.warning(
                "An app could not be registered; it will be tried again.",
                metadata: [
                    LogKey.topic: "\(request.app)", LogKey.error: "\(error.words)",
                ])
            if request.change == .end { delegate?.tokenNotEnded(app: request.app, code: nil) }
        }
        return false
    }

    /// Reports the registrations to be ended, since the server cannot be asked yet.
    func delayEnds() {
        for app in registrations.ending { delegate?.tokenNotEnded(app: app, code: nil) }
    }

    /// - Returns: The token, where one was asked for.
    private func ask(
        for request: RegistrationFlow.Request, as identity: DeviceIdentity
    ) async throws(EnrolmentError) -> String? {
        let topic = Topic(request.app)
        switch request.change {
        case .token:
            let key: RecipientPublicKey?
            do { key = try delegate?.keyToPublish(app: request.app) } catch {
                throw .unavailable("the agent's store: \(error)")
            }
            return try await parts.enrolment.register(
                identity, topic: topic, team: request.team, environment: settings.environment, encryptionKey: key)
        case .end:
            try await parts.enrolment.unregister(
                identity, topic: topic, team: request.team, environment: settings.environment)
            return nil
        }
    }

    private func keep(
        _ record: RegistrationFlow.Record, _ token: String?, of request: RegistrationFlow.Request
    ) throws {
        switch record {
        case .token, .ended:
            try parts.store.save(token, app: request.app, team: request.team, environment: settings.environment)
        case .nothing: try parts.store.forgetRegistration(app: request.app, environment: settings.environment)
        }
    }

    private func fulfilled(_ request: RegistrationFlow.Request, _ token: String?) {
        guard registrations.settle(request) else {
            registrationSignals.continuation.yield()
            return
        }
        unknownApps.remove(request.app)
        if let token {
            topicsCommitted()
            delegate?.tokenReceived(token, app: request.app)
        } else {
            delegate?.tokenEnded(app: request.app)
        }
    }

    /// - Returns: Whether that is stored.
    private func refused(_ request: RegistrationFlow.Request, code: String) -> Bool {
        do {
            if let record = registrations.recordOfRefusal(of: request) { try keep(record, nil, of: request) }
        } catch {
            delegate?.storeUnusable(error)
            return false
        }
        let mayBeAdded = code == Self.unknownApp && request.change == .token && request.isInstalled
        let isNews = !unknownApps.contains(request.app)
        logger.log(
            level: isNews ? .error : .debug, "The server refused to register an app.",
            metadata: [
                LogKey.topic: "\(request.app)", LogKey.error: "\(code)",
            ])
        guard registrations.settle(request) else {
            registrationSignals.continuation.yield()
            return true
        }
        if mayBeAdded {
            unknownApps.insert(request.app)
            refusalSignals.continuation.yield()
        } else {
            unknownApps.remove(request.app)
        }
        switch request.change {
        case .token: delegate?.tokenRefused(app: request.app, code: code)
        case .end: delegate?.tokenNotEnded(app: request.app, code: code)
        }
        return true
    }
}
