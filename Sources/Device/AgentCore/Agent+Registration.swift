import AgentWire
import DeviceModel
import Logging
import Machine
import Observability
import PushModel

/// What an app wants of its registration.
enum RegistrationRequest: Sendable, Hashable {
    case token
    case end
}

extension Agent {
    /// The way to the server; `nil` without one.
    nonisolated var server: (connector: any PushConnector, enrolment: any EnrolmentClient)? {
        guard let connector = parts.connector, let enrolment = parts.enrolment else { return nil }
        return (connector, enrolment)
    }

    func requestToken(_ app: String) {
        // The terminal's own notifications never come from a provider.
        guard app != AppManifest.terminalID else { return }
        registrationRequests[app] = .token
        registrationSignals.continuation.yield()
    }

    func requestTokenEnd(_ app: String) {
        registrationRequests[app] = .end
        registrationSignals.continuation.yield()
    }

    /// Fulfils wishes as they come, until the task is cancelled.
    func runRegistrationLoop() async {
        var backOff = configuration.backOff
        for await _ in registrationSignals.stream {
            while !Task.isCancelled, await !processRegistrations() {
                await pause(&backOff)
            }
            backOff.reset()
        }
    }

    /// - Returns: `false` when there is a reason to try again soon.
    private func processRegistrations() async -> Bool {
        var isDone = true
        for (app, wish) in registrationRequests.sorted(by: { $0.key < $1.key }) {
            // Without an identity the session's keeper is enrolling, and signals afterwards.
            guard let identity, let (_, enrolment) = server else { return true }
            let absentees: [String: TeamID]
            do {
                absentees = try registeredAbsentees()
            } catch {
                storeFailed(error)
                return false
            }
            guard let team = apps[app].map({ TeamID(rawValue: $0.manifest.team) }) ?? absentees[app] else {
                registrationRequests[app] = nil
                continue
            }
            do throws(EnrolmentFailure) {
                // An app that is gone wants no token any more.
                try await fulfil(
                    apps[app] == nil ? .end : wish, of: app, team, as: identity, enrolment, isGone: apps[app] == nil)
            } catch {
                switch error {
                case .refused(let code): isDone = refuse(wish, app: app, code: code) && isDone
                case .notAuthenticated:
                    await examine(identity)
                    isDone = false
                case .unavailable(let why):
                    logger.warning(
                        "An app could not be registered; it will be tried again.",
                        metadata: [
                            LogKey.topic: "\(app)", LogKey.error: "\(why)",
                        ])
                    isDone = false
                }
            }
        }
        return isDone
    }

    private func fulfil(
        _ wish: RegistrationRequest, of app: String, _ team: TeamID, as identity: DeviceIdentity,
        _ enrolment: any EnrolmentClient, isGone: Bool
    ) async throws(EnrolmentFailure) {
        let topic = Topic(rawValue: app)
        var token: String?
        switch wish {
        case .token:
            token = try await enrolment.register(
                identity, topic: topic, team: team, environment: configuration.environment)
        case .end:
            try await enrolment.unregister(
                identity, topic: topic, team: team, environment: configuration.environment)
        }
        // The answer belongs to the identity and the wish that asked; either may have changed meanwhile.
        guard self.identity == identity else { return }
        if !isGone, apps[app] == nil, wish == .token {
            // It was taken away meanwhile: the token is kept until the server has been told that it ends.
            do {
                try store.keep(token, app: app, team: team, environment: configuration.environment)
            } catch {
                throw .unavailable("the agent's store: \(error)")
            }
            return requestTokenEnd(app)
        }
        guard isGone == (apps[app] == nil) else {
            // There is another wish now.
            registrationSignals.continuation.yield()
            return
        }
        do {
            if isGone {
                try store.forgetRegistration(app: app, environment: configuration.environment)
            } else {
                try store.keep(token, app: app, team: team, environment: configuration.environment)
            }
        } catch {
            throw .unavailable("the agent's store: \(error)")
        }
        guard isGone || registrationRequests[app] == wish else {
            // What is stored is so, and there is another wish now.
            registrationSignals.continuation.yield()
            return
        }
        registrationRequests[app] = nil
        apps[app]?.isTokenEnding = false
        if let token { announce(token, app: app) }
    }

    /// Answers every question for the token once; who has been told another hears of this one too.
    private func announce(_ token: String, app: String) {
        let told = apps[app]?.toldToken
        let requests = apps[app]?.tokenRequests ?? []
        apps[app]?.tokenRequests = []
        var answers = requests.map { AgentMessage.registered(request: $0, token: token) }
        if answers.isEmpty, let told, told != token { answers = [.registered(request: nil, token: token)] }
        if !answers.isEmpty { apps[app]?.toldToken = token }
        apps[app]?.connection?.send(answers)
        logger.notice("An app has its device token.", metadata: [LogKey.topic: "\(app)"])
        events(.registered(app: app, token: token))
    }

    /// - Returns: Whether that is the end of it.
    private func refuse(_ wish: RegistrationRequest, app: String, code: String) -> Bool {
        do {
            // The server does not know what is to be ended: then there is nothing to end.
            if apps[app] == nil { try store.forgetRegistration(app: app, environment: configuration.environment) }
        } catch {
            storeFailed(error)
            return false
        }
        registrationRequests[app] = nil
        logger.error(
            "The server refused to register an app.",
            metadata: [
                LogKey.topic: "\(app)", LogKey.error: "\(code)",
            ])
        guard wish == .token, let requests = apps[app]?.tokenRequests else { return true }
        apps[app]?.tokenRequests = []
        let sentence = "the server answered \(code): is the app known to it, and does its manifest name its team?"
        apps[app]?.connection?.send(
            requests.map { .registrationFailed(request: $0, code: code, message: sentence) })
        return true
    }
}
