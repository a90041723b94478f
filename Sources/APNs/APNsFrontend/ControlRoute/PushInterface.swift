import APNsProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// The route `POST /v1/notifications` of a development server: a device push without a provider's key, for its operator.
///
/// The body is `{"token": "…", "headers": {"apns-topic": "…"}, "payload": {"aps": …}}`. It may have `device`, a device's
/// number, in place of `token`, and then needs `apns-topic`. Without `apns-topic` the app of the token is meant. The checks
/// are those of the provider API after the credential, and a refusal has APNs' own reason.
package struct PushInterface: ControlInterface {
    private let gate: DevicePushGate
    private let acceptor: any NotificationAcceptor
    private let store: any RegisterStore

    /// Makes the interface of a server's parts.
    package init(
        environment: PushEnvironment, credentials: CredentialDirectory, certificates: CertificateDirectory,
        apps: AppDirectory, tokens: TokenDirectory, store: any RegisterStore, acceptor: any NotificationAcceptor,
        onDemand: OnDemandRegister?, senderTime: @escaping @Sendable (Timestamp) -> Timestamp
    ) {
        gate = DevicePushGate(
            credentials: credentials, certificates: certificates, apps: apps, tokens: tokens, environment: environment,
            onDemand: onDemand, senderTime: senderTime)
        self.acceptor = acceptor
        self.store = store
    }

    /// Adds the route where callers may act for every team.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        guard !isSecured else { return }
        router.post("v1/notifications") { request, _ in
            let scope = try await ProviderAccess(authentication: nil).team(nil)
            return try await send(PushDocument(Array(buffer: try await request.wholeBody())), for: scope)
        }
    }

    /// Sends a push.
    ///
    /// - Parameter scope: The team for which the caller may send; `nil` for every team.
    private func send(_ document: PushDocument, for scope: TeamID?) async throws -> Response {
        let token = try await token(document)
        let app = try await app(token: token, document)
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":path", "/3/device/\(token)")
        if document.topic == nil, let app { headers.append("apns-topic", app.topic.rawValue) }
        for field in document.headers { headers.append(field.name, field.value) }
        let head = APNsRequestHead(headers)
        guard let team = document.team ?? app?.team else {
            let topic = document.topic.map { "no app has the topic \($0)" }
            throw ControlError.invalid("\(topic ?? "no app has this token"); \"team\" names the team that sends")
        }
        guard scope == nil || scope == team else {
            throw ControlError(status: .forbidden, code: "forbidden", message: "the app is of another team")
        }
        var found = DevicePushGate.Found()
        // A directory that evicts at once what it has just read would cause an endless loop.
        for _ in 0..<4 {
            switch gate.decide(head, body: document.payload.bytes, of: team, found: found) {
            case .accept(let acceptance): return try await accept(acceptance)
            case .refuse(let refusal, let requester): return refuse(refusal, requester)
            case .refuseCredential(let refusal, _): return refuse(refusal, nil)
            case .lookUp(let lookUp): found = try await gate.found(lookUp, after: found)
            }
        }
        throw ControlError.unavailable
    }

    /// The token of a request, or of the device that it names.
    private func token(_ document: PushDocument) async throws -> String {
        switch (document.token, document.device) {
        case (let token?, nil): return token
        case (nil, let device?):
            guard let topic = document.topic, let app = try await gate.apps.find(Topic(rawValue: topic)) else {
                throw ControlError.invalid("a device has a token for each app: \"apns-topic\" names the app")
            }
            let registration = try await store.registration(device: device, app: app.id, environment: gate.environment)
            guard let registration, registration.endedAt == nil else {
                throw ControlError(
                    status: .notFound, code: "notFound",
                    message: "the device \(device) has no active registration of \(topic) here")
            }
            let subject = TokenSubject(
                cell: 0, device: device, app: app.id, environment: gate.environment,
                generation: registration.generation)
            return try gate.tokens.sealer.seal(subject).description
        default: throw ControlError.invalid("exactly one of \"token\" and \"device\" is wanted")
        }
    }

    /// The app of the topic, else that of the token; `nil` where both are unknown.
    private func app(token: String, _ document: PushDocument) async throws -> RegisteredApp? {
        if let topic = document.topic {
            let suffix = document.pushType?.topicSuffix?.description ?? ""
            let name = !suffix.isEmpty && topic.hasSuffix(suffix) ? String(topic.dropLast(suffix.count)) : topic
            return try await gate.apps.find(Topic(rawValue: name))
        }
        guard let subject = DeviceToken(text: token).flatMap(gate.tokens.sealer.open) else { return nil }
        return try await gate.apps.find(subject.app)
    }

    private func accept(_ acceptance: AcceptedNotification) async throws -> Response {
        let result = await withCheckedContinuation { continuation in
            let sink = OneAcceptance { continuation.resume(returning: $0) }
            if !acceptor.accept(acceptance, sink: sink) {
                sink.completed([AcceptanceResult(ticket: acceptance.ticket, id: nil, apnsID: nil)])
            }
        }
        guard let id = result.id else { throw ControlError.unavailable }
        let apnsID = result.apnsID?.rawValue ?? String(decoding: ServerAPNsID.bytes(of: id), as: UTF8.self)
        return .json(["id": id.description, "apnsId": apnsID])
    }

    private func refuse(_ refusal: APNsRejection, _ requester: DevicePushGate.Requester?) -> Response {
        var answer = ["reason": refusal.reason.rawValue, "detail": refusal.note ?? refusal.reason.sentence]
        if let requester {
            answer["id"] =
                acceptor.recordRefusal(
                    refusal, team: requester.team, topic: requester.topic, apnsID: requester.apnsID)?.description
        }
        return .json(answer, status: .init(code: refusal.reason.status))
    }
}

/// The body of `POST /v1/notifications`.
struct PushDocument {
    var token: String?
    var device: DeviceID?
    var team: TeamID?
    /// The fields `apns-…` of the request.
    var headers: [(name: String, value: String)] = []
    var payload: JSONValue

    private static let members = ["device", "headers", "payload", "team", "token"]

    init(_ body: [UInt8]) throws(ControlError) {
        let tree: JSONValue
        do { tree = try JSONValue(object: body) } catch {
            throw ControlError.invalid("the body cannot be read: \(error)")
        }
        if let other = tree.members?.first(where: { !Self.members.contains($0.name) }) {
            throw ControlError.invalid("there is no member \(other.name); there are \(Self.members)")
        }
        guard let payload = tree["payload"], payload.members != nil else {
            throw ControlError.invalid(#"the body is not {"token": "…", "payload": {…}}"#)
        }
        self.payload = payload
        token = try Self.text(tree, "token")
        if let text = try Self.text(tree, "device") {
            guard let number = UInt64(text).flatMap(DeviceID.init) else {
                throw ControlError.invalid("device is a device's number, as GET /v1/devices has it")
            }
            device = number
        }
        if let text = try Self.text(tree, "team") {
            guard TeamID.hasShape(text) else { throw ControlError.invalid("a team has ten characters A-Z0-9") }
            team = TeamID(rawValue: text)
        }
        for field in tree["headers"]?.members ?? [] {
            guard field.name.hasPrefix("apns-"), let value = field.value.text else {
                throw ControlError.invalid("headers has fields of APNs with strings, such as \"apns-priority\": \"5\"")
            }
            headers.append((field.name, value))
        }
    }

    var topic: String? { headers.first { $0.name == "apns-topic" }?.value }

    var pushType: PushType? { headers.first { $0.name == "apns-push-type" }.flatMap { PushType(rawValue: $0.value) } }

    private static func text(_ tree: JSONValue, _ name: String) throws(ControlError) -> String? {
        guard let value = tree[name], value != .null else { return nil }
        guard let text = value.text else {
            throw ControlError.invalid("\(name) is to be a string, not \(value.kind)")
        }
        return text
    }
}

/// Receives the result of one acceptance.
private final class OneAcceptance: AcceptanceSink {
    private let receive: @Sendable (AcceptanceResult) -> Void

    init(_ receive: @escaping @Sendable (AcceptanceResult) -> Void) { self.receive = receive }

    func completed(_ results: [AcceptanceResult]) { if let first = results.first { receive(first) } }
}
