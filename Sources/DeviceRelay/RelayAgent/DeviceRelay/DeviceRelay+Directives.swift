import AgentEngine
import AgentProtocol
import NIOCore
import Networking
import PushCore
import RelayProtocol

/// The execution of the host's directives.
extension DeviceRelay {
    func perform(_ directives: [RelayHost.Directive]) {
        for directive in directives { perform(directive) }
    }

    private func perform(_ directive: RelayHost.Directive) {
        switch directive {
        case .send(let frame): send(frame)
        case .tell(let client, let notice): tell(client, notice)
        case .open(let ticket, let uri, let app):
            parts.opener.open(uri, app: app) { [weak self] outcome in
                self?.enter { $0.perform($0.host.launchEnded(ticket, outcome, at: $0.parts.now())) }
            }
        case .findOpener(let ticket, let scheme, let app):
            parts.opener.findProgram(for: scheme, app: app) { [weak self] isPresent in
                self?.enter {
                    $0.perform($0.host.foundOpener(ticket, scheme: scheme, isPresent: isPresent, at: $0.parts.now()))
                }
            }
        case .path(let device, let content): directPath(content, device)
        case .save(let settings): save(settings)
        case .keep(let queuedMessage): keep(.taken(queuedMessage))
        case .keepAttempt(let attempt): keep(.attempt(attempt))
        case .file(let stream, let order):
            files.follow(stream, order) { [weak self] event in
                self?.enter { $0.perform($0.host.filed(stream, event, at: $0.parts.now())) }
            }
        case .endService(let ticket): parts.services.end(ticket)
        case .serve(let ticket, let service, let message):
            parts.services.serve(ticket, service: service, message: message, settings: host.settings) {
                [weak self] outcome in
                self?.enter { $0.perform($0.host.served(ticket, outcome, at: $0.parts.now())) }
            }
        case .ask(let ticket, let question): ask(ticket, question)
        case .withdraw(let ticket):
            for (id, other) in questions where other == ticket {
                questions[id] = nil
                parts.presenter.withdraw(id)
            }
        case .start(let app): delegate?.startForRelay(BundleID(rawValue: app))
        case .note(let entry): note(entry)
        case .tellLog(let client, let request):
            let lines = log.last(100).map { RelayValue.string($0) }
            tell(client, .managed(request: request, ["lines": .array(lines)]))
        case .wake(let milliseconds):
            loop.scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
                self?.assumeIsolated { $0.perform($0.host.due(at: $0.parts.now())) }
            }
        }
    }

    private func keep(_ record: ReceivedMessageLogFile.Record) {
        takenQueuedMessages.keep(record) { [weak self] queuedMessages, failure in
            self?.enter { relay in
                if let failure {
                    relay.logger.error(
                        "It was not written down that messages were taken, or given to their apps.",
                        metadata: [LogKey.error: "\(failure)"])
                }
                relay.perform(relay.host.kept(queuedMessages, isWritten: failure == nil, at: relay.parts.now()))
            }
        }
    }

    private func note(_ entry: RelayLogEntry) {
        let name = host.name(of: entry.device)
        guard log.note(entry, name: name, at: parts.now()) else { return }
        loop.scheduleTask(in: .seconds(1)) { [weak self] in self?.assumeIsolated { $0.log.write() } }
    }

    /// The agent ends: what is still to be written of the log is written.
    package func writeLog() { log.write() }

    private func save(_ settings: RelaySettings) {
        let isSameAccount = settings.account == seals.account
        seals.takes(key: settings.deviceKey)
        seals.takes(settings.account)
        seals.takes(settings.list)
        let keys = seals.direct
        onDirect { isSameAccount ? $0.know(keys) : $0.accountChanged(keys) }
        do { try settingsFile.write(settings) } catch {
            logger.error("The settings of relaying were not kept.", metadata: [LogKey.error: "\(error)"])
        }
    }

    // MARK: The person's word

    private func ask(_ ticket: Int64, _ question: RelayQuestion) {
        guard parts.presenter.hasScreen, let id = delegate?.nextRelayQuestion() else { return decide(ticket, nil) }
        questions[id] = ticket
        parts.presenter.present(RelayQuestionNotification.presentation(id, question)) { [weak self] outcome in
            guard case .failed = outcome else { return }
            self?.enter { if $0.questions.removeValue(forKey: id) != nil { $0.decide(ticket, nil) } }
        }
    }

    /// Runs after the directives that are being followed now, since one of them may be the cause.
    func decide(_ ticket: Int64, _ answer: RelayQuestion.Answer?) {
        enter { $0.perform($0.host.decided(ticket, answer, at: $0.parts.now())) }
    }

    // MARK: Out

    /// Sends a frame: directly where there is such a path to the device, else through the server.
    private func send(_ frame: RelayFrame) {
        guard case .route(let route) = frame, !RelaySeals.isPairing(route), onDirect({ $0.send(route) }) != nil
        else { return seal(frame) }
    }

    /// Seals a frame and writes it; what cannot be sealed is answered here.
    func seal(_ frame: RelayFrame) {
        let now = parts.now()
        switch seals.outgoing(frame, at: now) {
        case .send(let frame): write(announcedDevices.outgoing(frame))
        case .refused(let frame): enter { $0.perform($0.host.received(frame, at: now)) }
        }
    }

    func write(_ frame: RelayFrame) {
        do { delegate?.sendToRelay(try frame.encoded()) } catch {
            logger.error("A frame of the relay could not be written.", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func tell(_ client: ClientNumber, _ notice: RelayNotice) {
        guard let connection = clients[client] else { return }
        do { delegate?.send(.relay(RelayPacket(try notice.encoded())), toRelayClient: connection) } catch {
            logger.error("A notice about relaying could not be written.", metadata: [LogKey.error: "\(error)"])
        }
    }
}
