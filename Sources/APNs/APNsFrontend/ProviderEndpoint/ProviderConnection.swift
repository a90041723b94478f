import APNsProtocol
import Foundation
import Logging
import Metrics
import NIOCore
import Networking
import PushCore
import PushServer

/// A provider's connection. Confined to its event loop, to which its sink forwards results.
final class ProviderConnection: HTTP2RequestHandler {
    let gate: DevicePushGate
    private let acceptor: any NotificationAcceptor
    let metrics: ProviderMetrics
    private let refusedTokens: RefusedTokenReport
    private let sink: ProviderSink
    /// Remembers requests for tests; `nil` on a server that is not for development.
    let recorder: RequestRecorder?
    /// A header block that every response reuses, so that none allocates a block of its own.
    var answer = HeaderBlock()
    var memory = DevicePushGate.Memory()
    /// Apple's limits on the connection; `nil` where they are not wanted.
    private var limits: AppleLimits?
    /// Whether the connection's certificate was read, which it has once its first request is received.
    private var isIdentified = false

    init(
        gate: DevicePushGate, acceptor: any NotificationAcceptor, metrics: ProviderMetrics,
        refusedTokens: RefusedTokenReport, controls: TestControls?, limits: AppleLimits? = nil,
        connection: HTTP2ServerConnection
    ) {
        self.limits = limits
        if limits != nil { memory.credential = CredentialDirectory.Memory(countsFirstToken: true) }
        self.refusedTokens = refusedTokens
        recorder = controls.map(RequestRecorder.init)
        self.gate = gate
        self.acceptor = acceptor
        self.metrics = metrics
        sink = ProviderSink(loop: connection.eventLoop)
        sink.attach(self, to: connection)
    }

    func requestReceived(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
        if request.hasIllegalValue, !APNsRequestHead(request.headers).hasIllegalValue {
            return connection.resetMalformed(request.stream)
        }
        if let recorder {
            let fault = recorder.begin(request, at: acceptor.now)
            if let fault, apply(fault, to: request, on: connection) { return }
        }
        process(request, on: connection)
    }

    /// The server's time.
    var now: Timestamp { acceptor.now }

    /// Decides on a request and answers it.
    func process(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
        if let place = request.headers.first(":path"), let path = BroadcastPath(request.headers.value(place)) {
            return handle(
                BroadcastCall(
                    path: path, headers: request.headers, body: request.body, fault: request.fault,
                    stream: request.stream), on: connection)
        }
        handle(
            request.headers, body: request.body,
            fault: request.fault, stream: request.stream, found: DevicePushGate.Found(), round: 0, on: connection)
    }

    func connectionClosed(_ connection: HTTP2ServerConnection) { sink.detach() }

    private func handle(
        _ headers: HeaderBlock, body: [UInt8], fault: HTTP2Request.Fault?, stream: Int32,
        found: DevicePushGate.Found, round: Int, on connection: HTTP2ServerConnection
    ) {
        readCertificate(of: connection)
        let head = APNsRequestHead(headers)
        let decision = gate.decide(
            head, body: body, fault: fault, found: found, memory: &memory,
            ticket: stream)
        switch decision {
        case .accept(let acceptance):
            connection.prove()
            accept(acceptance, on: connection)
        case .refuse(let refusal, _) where refusal.reason == .methodNotAllowed && head.asksForRoot:
            explain(stream, on: connection)
        case .refuse(let refusal, let requester):
            if requester != nil { connection.prove() }
            refuse(
                refusal, requester: requester, sentID: head.echoedID, stream: stream, hasBody: !head.isHead,
                on: connection)
        case .refuseCredential(let refusal, let key):
            let requester = requester(
                of: refusal, key, topic: head.topicText, apnsID: head.validAPNsID, on: connection)
            refuse(
                refusal, requester: requester, sentID: head.echoedID, stream: stream, hasBody: !head.isHead,
                on: connection)
        case .lookUp(let lookUp):
            guard round < 4 else {
                // A directory that immediately evicts what it has just read would cause an endless loop.
                return refuse(
                    APNsRejection(.internalServerError), requester: nil, sentID: head.echoedID, stream: stream,
                    on: connection)
            }
            wait(for: lookUp, after: found, on: connection) { [weak self] found in
                self?.handle(
                    headers, body: body, fault: fault, stream: stream, found: found, round: round + 1,
                    on: connection)
                connection.flush()
            } orFail: { [weak self] in
                self?.refuse(
                    APNsRejection(.serviceUnavailable), requester: nil, sentID: head.echoedID, stream: stream,
                    on: connection)
                connection.flush()
            }
        }
    }

    /// Reads the connection's certificate at its first request, before which it is not known.
    func readCertificate(of connection: HTTP2ServerConnection) {
        guard !isIdentified else { return }
        isIdentified = true
        memory.certificate = connection.peerCertificate.map(CertificateDirectory.Memory.init)
        if memory.certificate != nil { perform(limits?.handleCertificate(), on: connection) }
    }

    /// Handles an accepted request by Apple's limits.
    func recordAcceptance(on connection: HTTP2ServerConnection) {
        metrics.accepted.increment()
        perform(limits?.handleAcceptance(), on: connection)
    }

    private func perform(_ action: AppleLimits.Action?, on connection: HTTP2ServerConnection) {
        switch action {
        case .limitStreams(let count):
            if count == 1 { metrics.slowed.increment() }
            connection.limitStreams(to: count)
        case .end(let reason):
            metrics.ended.increment()
            connection.shutDownAfterResponses(debugData: APNsRejection(reason).body)
        case nil: break
        }
    }

    /// Reports a refused credential.
    ///
    /// - Returns: The sender for the timeline of the refusal; `nil` where none is written.
    func requester(
        of refusal: APNsRejection, _ key: CredentialDirectory.KnownKey?, topic: String, apnsID: APNsID? = nil,
        on connection: HTTP2ServerConnection
    ) -> DevicePushGate.Requester? {
        guard let key else {
            refusedTokens.reportUnknown(refusal, from: connection.remoteAddress)
            return nil
        }
        guard refusedTokens.report(refusal, of: key, from: connection.remoteAddress) else { return nil }
        return DevicePushGate.Requester(team: key.team, topic: topic, apnsID: apnsID)
    }

    private func accept(_ acceptance: AcceptedNotification, on connection: HTTP2ServerConnection) {
        recorder?.decided(acceptance)
        guard !acceptor.accept(acceptance, sink: sink) else { return }
        refuse(
            APNsRejection(.serviceUnavailable), requester: nil,
            sentID: acceptance.notification.apnsID?.rawValue.utf8[...],
            stream: acceptance.ticket, on: connection)
    }

    /// Responds to completed requests; the caller flushes.
    func completed(_ results: [AcceptanceResult], on connection: HTTP2ServerConnection) {
        for result in results {
            if let id = result.id {
                recorder?.accepted(id, stream: result.ticket)
                succeed(id, apnsID: result.apnsID, stream: result.ticket, on: connection)
            } else {
                refuse(
                    APNsRejection(.serviceUnavailable), requester: nil, sentID: result.apnsID?.rawValue.utf8[...],
                    stream: result.ticket, on: connection)
            }
        }
    }

    private func succeed(
        _ id: NotificationID, apnsID: APNsID?, stream: Int32, on connection: HTTP2ServerConnection
    ) {
        answer.removeAll()
        answer.append(":status", bytes: StaticBytes.ok)
        if let apnsID {
            answer.append("apns-id", bytes: apnsID.rawValue.utf8)
        } else {
            answer.append("apns-id", bytes: ServerAPNsID.bytes(of: id))
        }
        if gate.environment == .sandbox { answer.append("apns-unique-id", bytes: ServerAPNsID.bytes(of: id)) }
        respond(stream, on: connection)
        recordAcceptance(on: connection)
    }

    /// Responds to people who open the address, which is the purpose of no program.
    private func explain(_ stream: Int32, on connection: HTTP2ServerConnection) {
        answer.removeAll()
        answer.append(":status", bytes: StaticBytes.ok)
        answer.append("content-type", bytes: StaticBytes.plainText)
        respond(stream, body: StaticBytes.explanation, on: connection)
    }

    /// Writes the response whose fields are in ``answer``.
    func respond(
        _ stream: Int32, body: [UInt8] = [], reason: APNsReason? = nil, on connection: HTTP2ServerConnection
    ) {
        if let recorder, !recorder.recordAnswer(stream, answer, body: body, reason: reason?.rawValue, on: connection) {
            return
        }
        connection.respond(stream, headers: answer, body: body)
    }

    func refuse(
        _ refusal: APNsRejection, requester: DevicePushGate.Requester?, sentID: (some Collection<UInt8>)?,
        idField: StaticString = "apns-id", allowed: some Sequence<UInt8> = StaticBytes.post, stream: Int32,
        hasBody: Bool = true, on connection: HTTP2ServerConnection
    ) {
        metrics.refused(refusal.reason)
        var id = sentID.map { Array($0) }
        if let requester {
            let made = acceptor.recordRefusal(
                refusal, team: requester.team, topic: requester.topic, apnsID: requester.apnsID)
            if id == nil, let made { id = ServerAPNsID.bytes(of: made) }
        }
        answer.removeAll()
        answer.append(":status", bytes: Array(String(refusal.reason.status).utf8))
        answer.append(idField, bytes: id ?? StaticBytes.randomID())
        answer.append("content-type", bytes: StaticBytes.json)
        if refusal.reason == .methodNotAllowed { answer.append("allow", bytes: allowed) }
        if refusal.reason == .serviceUnavailable { answer.append("retry-after", bytes: StaticBytes.retryAfter) }
        // The response to HEAD has only the fields (RFC 9110, section 9.3.2).
        respond(stream, body: hasBody ? refusal.body : [], reason: refusal.reason, on: connection)
        perform(limits?.handleRefusal(refusal.reason), on: connection)
    }

    // MARK: Look-ups

    func wait(
        for lookUp: DevicePushGate.LookUp, after found: DevicePushGate.Found, on connection: HTTP2ServerConnection,
        then go: @escaping (DevicePushGate.Found) -> Void, orFail fail: @escaping () -> Void
    ) {
        let loop = connection.eventLoop
        let gate = self.gate
        let bound = NIOLoopBound((go, fail), eventLoop: loop)
        loop.makeFutureWithTask { try await gate.found(lookUp, after: found) }.whenComplete { result in
            switch result {
            case .success(let found): bound.value.0(found)
            case .failure: bound.value.1()
            }
        }
    }
}

extension DevicePushGate {
    /// Reads from the store the data that a decision lacked, and adds it to what was found before.
    func found(_ lookUp: LookUp, after earlier: Found) async throws -> Found {
        var found = earlier
        switch lookUp {
        case .credential(let bytes): found.credential = try await credentials.find(bytes[...])
        case .certificate(let der): found.certificate = try await certificates.find(der, in: environment)
        case .topic(let topic, let team):
            if let onDemand, onDemand.kinds.contains(.apps) {
                found.topics[topic] = .app(try await onDemand.app(topic, of: team))
            } else {
                found.topics[topic] = try await apps.find(topic).map { .app($0) } ?? .unknownTopic
            }
        case .token(let token, let app):
            let resolution = try await tokens.find(token)
            guard resolution == .bad, let onDemand, onDemand.kinds.contains(.tokens) else {
                found.token = resolution
                break
            }
            found.token = .active(try await onDemand.subject(of: token, text: token.description, app: app))
        }
        return found
    }
}

/// Byte strings of responses, made once.
enum StaticBytes {
    static let ok: [UInt8] = Array("200".utf8)
    static let post: [UInt8] = Array("POST".utf8)
    static let json: [UInt8] = Array("application/json".utf8)
    static let plainText: [UInt8] = Array("text/plain; charset=utf-8".utf8)
    static let explanation = Array(
        """
        Aldaba runs APNs and FCM on this machine. This is its provider API: programs send notifications here with
        POST /3/device/TOKEN over HTTP/2. The control API is another port; `aldaba help` lists the commands.

        """.utf8)
    /// The seconds after which a failed request may be repeated: a store that failed is tried again by then.
    static let retryAfter: [UInt8] = Array("5".utf8)

    /// A random id for a response without a known team, under which nothing is recorded.
    static func randomID() -> [UInt8] { Array(UUID().uuidString.lowercased().utf8) }
}

/// Forwards results from any thread to a connection's event loop.
final class ProviderSink: AcceptanceSink {
    private let loop: any EventLoop
    private let target: NIOLoopBoundBox<(provider: ProviderConnection, connection: HTTP2ServerConnection)?>

    init(loop: any EventLoop) {
        self.loop = loop
        target = NIOLoopBoundBox(nil, eventLoop: loop)
    }

    func attach(_ provider: ProviderConnection, to connection: HTTP2ServerConnection) {
        target.value = (provider, connection)
    }

    func detach() { target.value = nil }

    func completed(_ results: [AcceptanceResult]) {
        // An attempt (TTL 0) is completed while its request is processed: responses to requests of one read are flushed
        // together.
        if loop.inEventLoop { return answer(results) { _ in } }
        loop.execute { self.answer(results) { $0.flush() } }
    }

    private func answer(_ results: [AcceptanceResult], then finish: (HTTP2ServerConnection) -> Void) {
        guard let target = target.value else { return }
        target.provider.completed(results, on: target.connection)
        finish(target.connection)
    }
}
