import APNsProtocol
import Networking
import PushCore
import PushServer

/// A request for the interface of broadcast channels, as it arrived.
struct BroadcastCall {
    var path: BroadcastPath
    var headers: HeaderBlock
    var body: [UInt8]
    var fault: HTTP2Request.Fault?
    var stream: Int32

    var method: String { headers.first(":method").map(headers.text) ?? "" }
    /// The id of the request as it was sent, where it has the form of one.
    var requestID: [UInt8]? {
        let place = headers.first("apns-request-id") ?? headers.first("apns-id")
        return place.map { headers.value($0) }.flatMap { APNsRequestHead.isUUID($0) ? Array($0) : nil }
    }
}

/// The checks of a request about broadcast channels: method, credential, header fields, body, app.
extension DevicePushGate {
    /// The decision on a request.
    enum BroadcastDecision {
        case perform(BroadcastRequest, of: RegisteredApp)
        case refuse(APNsRejection, of: Requester?)
        /// The credential is not valid; with the key of its token, or the certificate, where the register has it.
        case refuseCredential(APNsRejection, CredentialDirectory.KnownKey?)
        /// Something must be read from the store first; the caller then decides again.
        case lookUp(LookUp)
    }

    /// Decides on a request.
    func decide(_ call: BroadcastCall, found: Found, memory: inout Memory) -> BroadcastDecision {
        guard call.path.methods.contains(call.method) else {
            return .refuse(
                APNsRejection(
                    .methodNotAllowed, note: "the path has \(call.path.methods.joined(separator: ", ")) alone"), of: nil
            )
        }
        let sender: Sender
        switch self.sender(APNsRequestHead(call.headers), found: found, memory: &memory) {
        case .known(let known): sender = known
        case .refused(let refusal, let key): return .refuseCredential(refusal, key)
        case .lookUp(let lookUp): return .lookUp(lookUp)
        }
        do throws(APNsRejection) {
            if let refusal = Self.refusal(of: call.fault) { throw refusal }
            let request = try BroadcastRequest(
                call.path, method: call.method, headers: call.headers, body: call.body)
            return try decide(request, app: call.path.app, sender: sender, found: found, memory: &memory)
        } catch {
            return .refuse(error, of: Requester(team: sender.team, topic: call.path.app, apnsID: nil))
        }
    }

    private static func refusal(of fault: HTTP2Request.Fault?) -> APNsRejection? {
        switch fault {
        case .headersTooLarge: APNsRejection(.badRequestParams, note: "the header has too many bytes or fields")
        case .bodyLate: APNsRejection(.idleTimeout, note: "the body did not end in time")
        case .bodyTooLarge:
            APNsRejection(
                .payloadTooLarge, note: "the body has far more than \(APNsPayloadLimit.broadcastBytes) bytes")
        case .wrongLength:
            APNsRejection(.badRequestPayload, note: "the body is not as long as content-length says")
        case nil: nil
        }
    }

    private func decide(
        _ request: BroadcastRequest, app bundleID: String, sender: Sender, found: Found, memory: inout Memory
    ) throws(APNsRejection) -> BroadcastDecision {
        guard Topic.hasShape(bundleID) else {
            throw APNsRejection(.badPath, note: "the path does not contain a bundle id")
        }
        if PushType.allCases.contains(where: { $0.topicSuffix.map { bundleID.hasSuffix("\($0)") } ?? false }) {
            throw APNsRejection(.topicDisallowed, note: "the path contains the bundle id without a suffix")
        }
        let topic = Topic(rawValue: bundleID)
        if let certificate = sender.certificate {
            do { _ = try certificate.topic(topic) } catch {
                throw APNsRejection(.topicMismatch, note: "the certificate is not one of \(bundleID)")
            }
        }
        var result = apps.known(topic)
        if case .needsLookUp = result { result = found.topics[topic] ?? result }
        switch result {
        case .needsLookUp: return .lookUp(.topic(topic, for: sender.team))
        case .unknownTopic:
            if onDemand?.kinds.contains(.apps) == true { return .lookUp(.topic(topic, for: sender.team)) }
            throw APNsRejection(.topicMismatch, note: "no app has the bundle id \(bundleID)")
        case .app(let app):
            guard app.team == sender.team || onDemand?.kinds.contains(.apps) == true else {
                throw APNsRejection(.topicMismatch, note: "\(bundleID) is not one of team \(sender.team)")
            }
            guard app.isPushEnabled else {
                throw APNsRejection(
                    .featureNotEnabled, note: "\(bundleID) does not have the capability of push notifications")
            }
            return .perform(request, of: app)
        }
    }
}
