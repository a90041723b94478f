import APNsProtocol
import NIOCore
import Networking
import PushCore
import PushServer

/// Remembers the requests of one provider's connection for tests. Confined to the connection's event loop.
final class RequestRecorder {
    /// A request without an answer yet.
    private struct Open {
        var number: Int
        var begun: NIODeadline
        var acceptance: AcceptedNotification?
        /// The fault that takes the answer away, or ends the connection after it.
        var loss: Fault.Action?
    }

    private let controls: TestControls
    private let connection: Int
    private var open: [Int32: Open] = [:]

    init(_ controls: TestControls) {
        self.controls = controls
        connection = controls.nextConnection()
    }

    /// Remembers a request.
    ///
    /// - Returns: The fault that a test has set for it.
    func begin(_ request: HTTP2Request, at now: Timestamp) -> Fault? {
        let received = ReceivedRequest(at: now, request: request, connection: connection)
        let (number, fault) = controls.receive(received)
        open[request.stream] = Open(number: number, begun: .now())
        return fault
    }

    /// Notes what a request was found to be.
    func decided(_ acceptance: AcceptedNotification) {
        guard let number = open[acceptance.ticket]?.number else { return }
        open[acceptance.ticket]?.acceptance = acceptance
        controls.received.update(number) { request in
            request.parties.team = request.parties.team ?? acceptance.app.team.rawValue
            request.parties.app = acceptance.app.topic.rawValue
            request.parties.namespace = request.parties.namespace ?? acceptance.app.team.rawValue
        }
    }

    /// Notes the notification that was made of a request.
    func accepted(_ id: NotificationID, stream: Int32) {
        guard let request = open[stream], let acceptance = request.acceptance else { return }
        controls.received.add(acceptance.received(as: id), to: request.number)
    }

    /// Has a request's answer be lost, or be the connection's last.
    func lose(_ stream: Int32, by action: Fault.Action) { open[stream]?.loss = action }

    /// Notes that a request gets no answer.
    func end(_ stream: Int32) { open[stream] = nil }

    /// Notes an answer.
    ///
    /// - Returns: Whether it is to be written; a fault may have it be lost.
    func recordAnswer(
        _ stream: Int32, _ headers: HeaderBlock, body: [UInt8], reason: String?, on connection: HTTP2ServerConnection
    ) -> Bool {
        guard let request = open.removeValue(forKey: stream) else { return true }
        switch request.loss {
        case .cut?:
            connection.close()
            return false
        case .silence?: return false
        default: break
        }
        if request.loss == .goAway {
            let bound = NIOLoopBound(connection, eventLoop: connection.eventLoop)
            connection.eventLoop.execute { bound.value.shutDown() }
        }
        let fields = headers.received
        let elapsed = NIODeadline.now() - request.begun
        controls.received.answered(
            request.number,
            ReceivedRequest.Answer(
                status: headers.field(":status").flatMap { Int($0) } ?? 0, reason: reason, fields: fields,
                body: body, duration: .nanoseconds(elapsed.nanoseconds)))
        return true
    }
}

extension HeaderBlock {
    /// The fields that are no pseudo-header fields.
    fileprivate var received: [ReceivedRequest.Field] {
        (0..<count).compactMap { index in
            let name = String(decoding: name(index), as: UTF8.self)
            return name.hasPrefix(":") ? nil : ReceivedRequest.Field(name, text(index))
        }
    }

    /// The value of a field or pseudo-header field.
    fileprivate func field(_ name: StaticString) -> String? { first(name).map(text) }
}

extension ReceivedRequest {
    /// Makes a request of APNs as it arrived, with what its credential says of the sender, unchecked.
    fileprivate init(at now: Timestamp, request: HTTP2Request, connection: Int) {
        let path = request.headers.field(":path") ?? ""
        var parties = Parties()
        // A credential that cannot be read names nobody; the endpoint refuses it.
        if let index = request.headers.first("authorization"),
            let token = try? ProviderToken(authorization: request.headers.value(index))
        {
            parties.team = token.team.rawValue
            parties.key = token.keyID.rawValue
            parties.namespace = parties.team
        }
        parties.app = request.headers.field("apns-topic")
        if case .device(let token) = APNsRequestHead(request.headers).path {
            parties.token = String(decoding: token, as: UTF8.self)
        }
        self.init(
            at: now,
            content: Content(
                interface: .apns, connection: connection, method: request.headers.field(":method") ?? "",
                path: path, fields: request.headers.received, body: request.body), parties: parties)
    }
}
