import AgentWire
import AppConnections
import DeviceModel
import DevicePorts
import Logging
import NIOCore
import Observability
import PushModel
import RelayHost
import RelayServices
import RelayWire

/// Relaying between the devices of one person. ``RelayHost`` decides; here its directives are followed.
extension Agent {
    /// Takes what an app, what relays for it, or a terminal says about relaying.
    ///
    /// - Returns: Whether the connection may go on.
    func takeRelay(_ frame: [UInt8], _ role: AppRole?, _ connection: AppConnection) -> Bool {
        if role == nil, !mayManage(connection) { return false }
        let request: RelayRequest
        do { request = try RelayRequest(frame) } catch {
            connection.refuse(code: "malformed", message: "no request about relaying: \(error)")
            return false
        }
        let client = ObjectIdentifier(connection)
        let app = role?.app ?? AppManifest.terminalID
        relayClients[client] = connection
        followRelay(
            relay.take(
                request, from: client, app: app.rawValue, name: apps[app]?.manifest.name ?? app.rawValue,
                isTerminal: role == nil, at: parts.now().rawValue))
        return true
    }

    /// A connection is over.
    func relayClientEnded(_ connection: AppConnection) {
        guard relayClients.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        followRelay(relay.ended(ObjectIdentifier(connection), at: parts.now().rawValue))
    }

    /// The session with the server is open.
    func relaySessionOpened() {
        seals.begin(device: ownDevice, account: relay.settings.account)
        seals.takes(relay.settings.list)
        followRelay(relay.sessionOpened(at: parts.now().rawValue))
    }

    /// The settings of relaying, with the device's own key, which is drawn with the first run.
    static func relaySettings(_ dataFolder: String) throws -> RelaySettings {
        let file = RelaySettingsFile(dataFolder: dataFolder)
        var settings = try file.read()
        if settings.deviceKey == nil {
            settings.deviceKey = RelaySeals.newKey()
            try file.write(settings)
        }
        return settings
    }

    private var ownDevice: String { onLink { $0.device?.description ?? "" } ?? "" }

    /// Passes on what another device, or the server, says about relaying.
    package nonisolated func relayed(_ frame: [UInt8]) {
        assumeIsolated { agent in
            do {
                let now = agent.parts.now().rawValue
                let opened = agent.seals.incoming(try RelayFrame(frame), at: now)
                if let answer = opened.answer { agent.write(answer) }
                if let (device, message) = opened.pairing {
                    agent.followRelay(agent.relay.pairingHeard(device, message, at: now))
                }
                if let frame = opened.frame {
                    let keys = agent.seals.direct
                    agent.onDirect { $0.heard(frame, keys: keys) }
                    agent.followRelay(agent.relay.received(frame, isGuests: opened.isGuests, at: now))
                }
            } catch {
                agent.logger.warning(
                    "The server sent something about relaying that cannot be read.",
                    metadata: [LogKey.error: "\(error)"])
            }
        }
    }

    /// Tells those who relay that the session is over.
    package nonisolated func relayingEnded() {
        assumeIsolated { agent in
            agent.seals.forgetAll()
            agent.onDirect { $0.sessionEnded() }
            agent.followRelay(agent.relay.sessionClosed(at: agent.parts.now().rawValue))
        }
    }

    func followRelay(_ directives: [RelayHost<ObjectIdentifier>.Directive]) {
        for directive in directives {
            switch directive {
            case .send(let frame): send(frame)
            case .tell(let client, let notice): tell(client, notice)
            case .open(let ticket, let uri, let app):
                parts.opener.open(uri, app: app) { [weak self] outcome in
                    self?.enter { $0.followRelay($0.relay.opened(ticket, outcome, at: $0.parts.now().rawValue)) }
                }
            case .path(let device, .pathBegins(let connection)):
                onDirect { $0.announced(connection, by: device) }
            case .path(let device, .pathEnded(let connection, let received, let isAnswer)):
                onDirect { $0.counted(connection, received: received, isAnswer: isAnswer, by: device) }
            case .path: break
            case .save(let settings):
                if settings.account != seals.account { onDirect { $0.sessionEnded() } }
                seals.takes(key: settings.deviceKey)
                seals.takes(settings.account)
                seals.takes(settings.list)
                do { try RelaySettingsFile(dataFolder: configuration.dataFolder).write(settings) } catch {
                    logger.error("The settings of relaying were not kept.", metadata: [LogKey.error: "\(error)"])
                }
            case .file(let stream, let order):
                relayFiles.follow(stream, order) { [weak self] event in
                    self?.enter { $0.followRelay($0.relay.filed(stream, event, at: $0.parts.now().rawValue)) }
                }
            case .serve(let ticket, let service, let message):
                parts.services.serve(service, message, relay.settings) { [weak self] outcome in
                    self?.enter { $0.followRelay($0.relay.served(ticket, outcome, at: $0.parts.now().rawValue)) }
                }
            case .ask(let ticket, let question): ask(ticket, question)
            case .withdraw(let ticket):
                for (id, other) in relayQuestions where other == ticket {
                    relayQuestions[id] = nil
                    withdraw(id)
                }
            case .start(let app): startForRelay(BundleID(rawValue: app))
            case .note(let entry):
                relayLog.note(entry, name: relay.name(of: entry.device), at: parts.now().rawValue)
            case .tellLog(let client, let request):
                let lines = relayLog.last(100).map { RelayValue.string($0) }
                tell(client, .managed(request: request, ["lines": .array(lines)]))
            case .wake(let milliseconds):
                enter(after: .milliseconds(milliseconds)) { $0.followRelay($0.relay.due(at: $0.parts.now().rawValue)) }
            }
        }
    }

    // MARK: The person's word

    private func ask(_ ticket: Int64, _ question: RelayQuestion) {
        guard parts.presenter.hasScreen else { return decide(ticket, nil) }
        let id = questions.nextID()
        relayQuestions[id] = ticket
        parts.presenter.present(RelayQuestionLook.presentation(id, question)) { [weak self] outcome in
            guard case .failed = outcome else { return }
            self?.enter { if $0.relayQuestions.removeValue(forKey: id) != nil { $0.decide(ticket, nil) } }
        }
    }

    /// - Returns: Whether the event concerned a question about another device.
    func handleRelayQuestion(_ event: PresenterEvent) -> Bool {
        switch event {
        case .pressed(let id, let button, _):
            guard let ticket = relayQuestions.removeValue(forKey: id) else { return false }
            decide(ticket, RelayQuestion.Answer(rawValue: button))
        case .locked, .shownAgain: return false
        case .opened(let id, _), .dismissed(let id), .left(let id), .replied(let id, _, _):
            guard let ticket = relayQuestions.removeValue(forKey: id) else { return false }
            decide(ticket, nil)
        }
        return true
    }

    /// After what is being followed now, since it may have asked for this itself.
    private func decide(_ ticket: Int64, _ answer: RelayQuestion.Answer?) {
        enter { $0.followRelay($0.relay.decided(ticket, answer, at: $0.parts.now().rawValue)) }
    }

    /// An app is not on this device any more.
    func forgetRelay(of app: BundleID) {
        followRelay(relay.removed(app: app.rawValue, at: parts.now().rawValue))
    }

    /// Sends a frame: directly where there is such a way to the device, else by the server.
    private func send(_ frame: RelayFrame) {
        guard case .route(let route) = frame, !RelaySeals.isPairing(route),
            onDirect({ $0.send(route) }) != nil
        else { return seal(frame) }
    }

    /// Seals a frame and writes it; what cannot be sealed is answered here.
    func seal(_ frame: RelayFrame) {
        let now = parts.now().rawValue
        switch seals.outgoing(frame, at: now) {
        case .send(let frame): write(frame)
        case .refused(let frame): enter { $0.followRelay($0.relay.received(frame, at: now)) }
        }
    }

    private func write(_ frame: RelayFrame) {
        do {
            let bytes = try frame.encoded()
            onLink { $0.relay(bytes) }
        } catch {
            logger.error("A frame of the relay could not be written.", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func tell(_ client: ObjectIdentifier, _ notice: RelayNotice) {
        guard let connection = relayClients[client] else { return }
        do { connection.send([.relay(RelayPacket(try notice.encoded()))]) } catch {
            logger.error("A notice about relaying could not be written.", metadata: [LogKey.error: "\(error)"])
        }
    }
}
