import AgentEngine
import AgentProtocol
import Logging
import Networking
import PushCore
import RelayAgent
import WebPushProtocol

/// Delegate calls of the link to the server. The link runs on the agent's event loop, and calls the agent on it.
extension Agent: ServerLinkDelegate, AppRequestDelegate {
    /// Calls the link, which runs on the agent's event loop; `nil` without a server.
    @discardableResult func onLink<Value: Sendable>(_ body: (isolated ServerLink) -> Value) -> Value? {
        link?.assumeIsolated(body)
    }

    func callLink(_ call: AgentLinkCall) {
        onLink { link in
            switch call {
            case .acknowledge(let ids, let session): link.acknowledge(ids, in: session)
            case .receiptsCommitted: link.receiptsCommitted()
            case .upstreamCommitted: link.upstreamCommitted()
            case .topicsCommitted: link.topicsCommitted()
            case .appInstalled(let app, let team): link.appInstalled(app, team: team)
            case .requestToken(let app): link.requestToken(app)
            case .requestTokenEnd(let app): link.requestTokenEnd(app)
            case .closeSession: link.closeSession()
            }
        }
    }

    // MARK: The session

    /// Reports that the device has its id (``AgentEvent/enrolled(_:)``).
    package nonisolated func enrolled(as device: DeviceID) {
        events(.enrolled(device))
        assumeIsolated { $0.decide { $0.updateUnifiedPush(.identityChanged, $1) } }
    }
    /// Reports that the server accepted the login (``AgentEvent/sessionOpened``).
    package nonisolated func sessionOpened() {
        assumeIsolated { agent in
            agent.onRelay { $0.sessionOpened() }
            agent.decide { $0.sessionChanged($1) }
        }
        events(.sessionOpened)
    }
    /// Reports that a session was lost or could not be opened (``AgentEvent/sessionClosed(reason:)``).
    package nonisolated func sessionClosed(reason: String) {
        events(.sessionClosed(reason: reason))
        assumeIsolated { $0.decide { $0.sessionChanged($1) } }
    }

    /// Plans the notifications and has them stored; the link acknowledges them after the commit.
    package nonisolated func notificationsArrived(_ notifications: [OutgoingNotification], in session: Int) {
        assumeIsolated { $0.decide { $0.arrived(notifications, in: session, $1) } }
    }

    /// Has the ids of notifications deleted whose acks the server has confirmed.
    package nonisolated func confirmed(_ ids: [NotificationID]) { assumeIsolated { $0.enqueue(.confirmed(ids)) } }

    /// Has receipts deleted that the server has; first and last place in the outbox.
    package nonisolated func receiptsConfirmed(_ places: ClosedRange<OutboxPlace>) {
        assumeIsolated { $0.enqueue(.receiptsConfirmed(places)) }
    }

    /// Commits the batch of changes now.
    package nonisolated func commitWrites() { assumeIsolated { _ = $0.flush() } }
    /// Treats the error as any failure of the store: all connections are reopened.
    package nonisolated func storeUnusable(_ error: any Error) { assumeIsolated { $0.storeFailed(error) } }

    // MARK: Device tokens

    /// Sends the app its device token, where it asked for one or has another.
    package nonisolated func tokenReceived(_ token: String, app: BundleID) {
        assumeIsolated {
            $0.noteKeyPublished(of: app)
            $0.decide { engine, _ in engine.tokenReceived(token, app: app) }
        }
    }
    /// Notes that the app's device token has ended: it may ask for a new one.
    package nonisolated func tokenEnded(app: BundleID) {
        assumeIsolated { $0.decide { engine, _ in engine.tokenEnded(app: app) } }
    }
    /// Answers the app's requests to end its device token: the server's code, or `nil` where it could not be asked.
    package nonisolated func tokenNotEnded(app: BundleID, code: String?) {
        assumeIsolated { $0.decide { engine, _ in engine.tokenNotEnded(app: app, code: code) } }
    }
    /// Answers the app's requests for a device token with the server's code.
    package nonisolated func tokenRefused(app: BundleID, code: String) {
        assumeIsolated {
            $0.decide { engine, _ in
                engine.tokenRefused(app: app, code: code, isUnknown: code == ServerLink.unknownApp)
            }
        }
    }

    /// The public key of the app's newest key pair. A new pair is made where there is none yet, or the newest has been
    /// in use for long.
    package nonisolated func keyToPublish(app: BundleID) throws -> RecipientPublicKey? {
        try assumeIsolated { agent in
            guard agent.apps[app]?.manifest.encryptedPayloads == .agent else { return nil }
            let key = try agent.store.keyToPublish(
                app: app, environment: agent.configuration.environment, now: agent.parts.now())
            // With the key's id a person can compare it with the one that the server publishes to senders.
            agent.logger.info(
                "An app publishes its encryption key.",
                metadata: [LogKey.topic: "\(app)", LogKey.key: "\(key.id)"])
            return key
        }
    }

    /// The server has answered to the registration that published the app's newest key.
    private func noteKeyPublished(of app: BundleID) {
        guard apps[app]?.manifest.encryptedPayloads == .agent else { return }
        do {
            try store.keyPublished(app: app, environment: configuration.environment, now: parts.now())
        } catch {
            // The key opens messages all the same, and the next registration publishes it again.
            logger.error("That a key is published could not be stored.", metadata: [LogKey.error: "\(error)"])
        }
    }

    // MARK: Requests of apps to their server

    /// Stores the outcome of a message, and notifies its app.
    package nonisolated func upstreamEnded(_ sequence: QueuedUpstream.Place, code: String?) {
        assumeIsolated { $0.enqueue(.upstreamEnded(sequence, code: code)) }
    }

    /// Answers who waits for a topic, and forgets the request.
    package nonisolated func topicAnswered(_ request: TopicChangeRequest, code: String?) {
        assumeIsolated { $0.decide { engine, _ in engine.topicAnswered(request, code: code) } }
    }

    // MARK: UnifiedPush

    /// Stores the endpoint, and sends it to the app.
    package nonisolated func endpointReceived(_ endpoint: String, of registration: UnifiedPushRegistration) {
        updateUnifiedPush(.endpoint(endpoint, token: registration.token, channel: registration.channel))
    }

    /// Ends the registration, and answers the app's calls.
    package nonisolated func endpointRefused(of registration: UnifiedPushRegistration) {
        updateUnifiedPush(.refused(token: registration.token, channel: registration.channel))
    }

    /// Forgets the channel.
    package nonisolated func channelEnded(_ channel: PushChannelID) { updateUnifiedPush(.channelEnded(channel)) }

    /// Answers the calls of apps that wait for the server.
    package nonisolated func channelsUnavailable() { updateUnifiedPush(.serverUnreachable) }

    /// Has no endpoint given to an app any more.
    package nonisolated func endpointsLost() { updateUnifiedPush(.identityChanged) }

    /// Passes an event to the engine.
    private nonisolated func updateUnifiedPush(_ event: UnifiedPushEngine.Event) {
        assumeIsolated { agent in
            switch event {
            // What these mean depends on the registrations, whose changes may wait for their commit.
            case .register, .unregister, .endpoint, .refused: agent.flush()
            default: break
            }
            agent.decide { $0.updateUnifiedPush(event, $1) }
        }
    }

    /// Loads the Live Activities.
    func startLiveActivities() throws {
        let stored = try store.liveActivities()
        decide { $0.settleActivities(.started(stored), $1) }
    }

    /// Loads the registrations, and begins to serve apps on the session bus.
    func startUnifiedPush() throws {
        guard let distributor = parts.distributor else { return }
        let stored = try store.pushRegistrations().map(\.registration)
        distributor.start { [weak self] event in
            self?.enter { agent in
                switch event {
                case .register(_, let call) where agent.link == nil: distributor.answer(call, .actionRequired)
                case .register(let asked, let call):
                    let channel = PushChannelID.random { UInt64.random(in: 0 ... .max) }
                    agent.updateUnifiedPush(.register(asked, call, channel: channel))
                case .unregister(let token): agent.updateUnifiedPush(.unregister(token: token))
                case .appeared(let service): agent.updateUnifiedPush(.appeared(service: service))
                }
            }
        }
        updateUnifiedPush(.started(stored))
    }

    /// Performs a directive that is none of the store's.
    func perform(_ directive: UnifiedPushEngine.Directive) {
        guard let distributor = parts.distributor else {
            guard case .deliver(let message, _) = directive else { return }
            let outcome = UnifiedPushOutcome.unreachable(reason: "the agent has no session bus")
            return enter { $0.updateUnifiedPush(.delivered(message.id, service: message.service, outcome)) }
        }
        switch directive {
        case .change, .read: break
        case .askForChannels: onLink { $0.askForChannels() }
        case .answer(let call, let failure): AgentStep.answerRequest.take { distributor.answer(call, failure) }
        case .watch(let service): distributor.watch(service: service)
        case .unwatch(let service): distributor.unwatch(service: service)
        case .sendEndpoint(let registration): distributor.sendEndpoint(of: registration)
        case .sendUnregistered(let registration, let isConfirmation):
            distributor.sendUnregistered(registration, isConfirmation: isConfirmation)
        case .deliver(let message, let version):
            AgentStep.handOver.take {
                distributor.deliver(message, version: version) { [weak self] outcome in
                    self?.enter {
                        $0.updateUnifiedPush(.delivered(message.id, service: message.service, outcome))
                    }
                }
            }
        case .rest(let duration, let service, let number):
            enter(after: duration) { $0.updateUnifiedPush(.rested(service: service, number)) }
        }
    }
}

/// Calls between the agent and ``DeviceRelay``, which relays between the devices of one person. It runs on the agent's
/// event loop.
extension Agent: DeviceRelayDelegate {
    /// Calls the relay, which runs on the agent's event loop.
    @discardableResult func onRelay<Value: Sendable>(_ body: (isolated DeviceRelay) -> Value) -> Value {
        relay.assumeIsolated(body)
    }

    /// Takes a relay frame from an app, from an app's relay service, or from a terminal.
    ///
    /// - Returns: Whether the connection may go on.
    func takeRelay(_ frame: [UInt8], role: AppRole?, connection: AppConnection) -> Bool {
        // A terminal is checked with its first frame.
        if role == nil, !onRelay({ $0.serves(connection.id) }), !mayManage(connection) { return false }
        let app = role?.app
        let name = app.flatMap { apps[$0]?.manifest.name } ?? (app ?? AppManifest.terminalID).rawValue
        return onRelay { $0.take(frame, from: connection.id, app: app, name: name) }
    }

    /// Keeps direct connections with other devices until its task is cancelled.
    func runRelay() async {
        guard relay.isDirect else { return }
        let network = KernelNetwork()
        await relay.run()
        network.start { [weak self] in self?.enter { agent in agent.onRelay { $0.networkChanged() } } }
        while !Task.isCancelled { try? await parts.sleep(.seconds(3600)) }
        network.stop()
        await relay.end()
    }

    /// Passes on a relay frame from another device, or from the server.
    package nonisolated func relayed(_ frame: [UInt8]) {
        assumeIsolated { agent in agent.onRelay { $0.receive(frame) } }
    }

    /// Notifies the relay that the session is over.
    package nonisolated func relayingEnded() { assumeIsolated { agent in agent.onRelay { $0.sessionClosed() } } }

    // MARK: Calls of the relay

    /// Sends a message to a client of the relay; one that has closed its connection gets none.
    package nonisolated func send(_ message: AgentMessage, toRelayClient id: AppConnectionID) {
        assumeIsolated { $0.connections[id]?.send([message]) }
    }

    /// Sends the reason to a client of the relay, and closes its connection.
    package nonisolated func refuseRelayClient(_ id: AppConnectionID, code: String, message: String) {
        assumeIsolated { $0.connections[id]?.refuse(code: code, message: message) }
    }

    /// This device's id; `nil` until it is enrolled.
    package nonisolated var relayingDevice: DeviceID? {
        assumeIsolated { agent in agent.onLink { $0.device } ?? nil }
    }

    /// Sends a frame over the session with the server.
    package nonisolated func sendToRelay(_ frame: [UInt8]) {
        assumeIsolated { agent in _ = agent.onLink { $0.relay(frame) } }
    }

    /// Starts an app that another device asks for, unless it runs.
    package nonisolated func startForRelay(_ app: BundleID) { assumeIsolated { $0.launchForRelay(app) } }

    /// Questions of other devices have ids of the same row as those of apps.
    package nonisolated func nextRelayQuestion() -> NotificationID { assumeIsolated { $0.questions.nextID() } }
}
