import APNsProtocol
import NIOCore
import Networking
import PushCore
import PushServer

/// Faults that tests have set.
extension ProviderConnection {
    /// Does to a request what a fault says.
    ///
    /// - Returns: Whether the request is dealt with; otherwise it is to be processed.
    func apply(_ fault: Fault, to request: HTTP2Request, on connection: HTTP2ServerConnection) -> Bool {
        guard fault.delay > 0 else { return applyNow(fault, to: request, on: connection) }
        let bound = NIOLoopBound((self, connection), eventLoop: connection.eventLoop)
        let copy = NIOLoopBound(request, eventLoop: connection.eventLoop)
        connection.eventLoop.scheduleTask(in: .milliseconds(Int64(fault.delay))) {
            let (provider, connection) = bound.value
            if !provider.applyNow(fault, to: copy.value, on: connection) {
                provider.process(copy.value, on: connection)
            }
            connection.flush()
        }
        return true
    }

    private func applyNow(_ fault: Fault, to request: HTTP2Request, on connection: HTTP2ServerConnection) -> Bool {
        let stream = request.stream
        switch fault.action {
        case .answer: reply(fault, to: request, on: connection)
        case .delay, .expiredCertificate: return false
        case .oneStream:
            connection.limitStreams(to: 1)
            return false
        case .refuseStream:
            recorder?.end(stream)
            connection.refuse(stream)
        case .goAway where fault.isUnprocessed:
            recorder?.end(stream)
            connection.shutDown(before: stream)
        case .cut where fault.isUnprocessed:
            recorder?.end(stream)
            connection.close()
        case .silence where fault.isUnprocessed: recorder?.end(stream)
        case .cut, .silence, .goAway:
            recorder?.lose(stream, by: fault.action)
            return false
        }
        return true
    }

    /// Gives the answer that a fault says.
    private func reply(_ fault: Fault, to request: HTTP2Request, on connection: HTTP2ServerConnection) {
        guard let reply = fault.reply else { return }
        let reason = reply.reason ?? APNsReason.usual(of: reply.status)?.rawValue ?? ""
        var fields = HeaderBlock()
        fields.append(":status", bytes: Array(String(reply.status).utf8))
        fields.append(
            "apns-id", bytes: APNsRequestHead(request.headers).echoedID.map(Array.init) ?? StaticBytes.randomID())
        if let seconds = reply.retryAfter { fields.append("retry-after", bytes: Array(String(seconds).utf8)) }
        var members: [JSONValue.Member] = reason.isEmpty ? [] : [.init("reason", .string(reason))]
        if reply.status == 410 { members.append(.init("timestamp", .number(String(now.rawValue)))) }
        var body: [UInt8] = []
        if reply.status != 200 {
            fields.append("content-type", bytes: Array("application/json".utf8))
            body = JSONValue.object(members).bytes
        }
        let isAnswered =
            recorder?.recordAnswer(
                request.stream, fields, body: body, reason: reason.isEmpty ? nil : reason, on: connection)
            ?? true
        if isAnswered { connection.respond(request.stream, headers: fields, body: body) }
    }
}

extension APNsReason {
    /// The reason that a status most often has.
    static func usual(of status: Int) -> APNsReason? {
        switch status {
        case 400: .badDeviceToken
        case 403: .invalidProviderToken
        case 410: .unregistered
        case 429: .tooManyRequests
        case 503: .serviceUnavailable
        default: allCases.first { $0.status == status }
        }
    }
}
