import PushCore

/// A request that a provider sent, with its answer and what became of the notifications in it.
package struct ReceivedRequest: Sendable {
    /// The interfaces for providers.
    package enum Interface: String, Sendable, CaseIterable {
        /// APNs over HTTP/2.
        case apns
        /// Apple's old binary interface.
        case binary = "apns-binary"
        /// FCM's HTTP v1 API.
        case fcm
        /// FCM's legacy HTTP API.
        case legacyFCM = "fcm-legacy"
        /// Subscriptions to FCM's topics.
        case topics = "fcm-topics"
        /// FCM's device groups.
        case groups = "fcm-groups"
        /// Access tokens for service accounts.
        case oauth
        /// Web Push.
        case webPush = "web-push"
    }

    /// A header field.
    package struct Field: Hashable, Sendable {
        /// The field's name, in lower case.
        package var name: String
        /// The field's value; a credential's is cut to its scheme.
        package var value: String

        private static let secrets: Set = [
            "authorization", "cookie", "crypto-key", "proxy-authorization", "set-cookie", "x-goog-api-key",
            "x-goog-iam-authorization-token",
        ]
        private static let schemes: Set = ["aidlogin", "basic", "bearer", "key", "vapid", "webpush"]

        /// Makes a field without the secrets of a credential.
        package init(_ name: String, _ value: String) {
            self.name = name.lowercased()
            let name = self.name
            let isSecret =
                Self.secrets.contains(name)
                || ["-token", "-key", "-auth", "authorization"].contains(where: name.hasSuffix)
            guard isSecret else {
                self.value = value
                return
            }
            let scheme = value.prefix { $0.isASCII && $0.isLetter }
            self.value = Self.schemes.contains(scheme.lowercased()) ? "\(scheme) …" : "…"
        }
    }

    /// The sender and the receiver that the request names.
    package struct Parties: Hashable, Sendable {
        /// The team of the credential.
        package var team: String?
        /// The id of the credential's key.
        package var key: String?
        /// The test that the request belongs to: its field `aldaba-namespace`, else its project, else its team.
        package var namespace: String?
        /// The device token or registration token.
        package var token: String?
        /// The app's topic (APNs), or its package or bundle.
        package var app: String?
        /// The topic of FCM's to which it was sent.
        package var topic: String?
        /// The condition of FCM's topics to which it was sent.
        package var condition: String?

        /// Makes parties that are not known yet.
        package init() {}
    }

    /// The answer that the provider got.
    package struct Answer: Sendable {
        /// The status; of the binary interface that of its error packet, 0 for none.
        package var status: Int
        /// The reason of a refusal, in APNs' or FCM's own name.
        package var reason: String?
        /// The header fields.
        package var fields: [Field]
        /// The body.
        package var body: [UInt8]
        /// The time between the whole request and its answer.
        package var duration: Duration

        /// Makes an answer.
        package init(status: Int, reason: String?, fields: [Field], body: [UInt8], duration: Duration) {
            self.status = status
            self.reason = reason
            self.fields = fields
            self.body = body
            self.duration = duration
        }
    }

    /// A notification that was made of the request.
    package struct Accepted: Sendable {
        /// The internal id.
        package var id: NotificationID
        /// The app's topic.
        package var app: String
        /// The payload as the device gets it; empty for a send to a topic, whose copies are made later.
        package var payload: [UInt8]

        /// Makes a notification of a request.
        package init(id: NotificationID, app: String, payload: [UInt8]) {
            self.id = id
            self.app = app
            self.payload = payload
        }
    }

    /// The request as it arrived.
    package struct Content: Sendable {
        /// The interface that it arrived at.
        package var interface: Interface
        /// The number of its connection.
        package var connection: Int
        /// The method; empty for the binary interface.
        package var method: String
        /// The path with its query; empty for the binary interface.
        package var path: String
        /// The header fields, without pseudo-header fields.
        package var fields: [Field]
        /// The body, up to ``bodyLimit``.
        package var body: [UInt8]

        /// The length in bytes of the body as it is shown, before the cut at ``bodyLimit``.
        package let length: Int

        /// The number of a body's bytes that are kept; no interface accepts more.
        package static let bodyLimit = 65_536

        /// Makes a request.
        package init(
            interface: Interface, connection: Int, method: String, path: String, fields: [Field], body: [UInt8]
        ) {
            self.interface = interface
            self.connection = connection
            self.method = method
            self.path = path
            self.fields = fields
            length = body.count
            self.body = body.count > Self.bodyLimit ? Array(body.prefix(Self.bodyLimit)) : body
        }
    }

    /// The number by which it is found; later ones have higher numbers.
    package internal(set) var number = 0
    /// The time at which it had arrived as a whole.
    package var at: Timestamp
    /// The request as it arrived.
    package let content: Content
    /// The title that a person would read; `nil` where there is none.
    package private(set) var title: String?
    /// The text that a person would read; `nil` where there is none.
    package private(set) var text: String?
    /// The sender and the receiver.
    package var parties: Parties
    /// The answer; `nil` where none was given yet, or never.
    package internal(set) var answer: Answer?
    /// The number of the fault that a test has set for it.
    package internal(set) var fault: Int?
    /// The notifications that were made of it.
    package internal(set) var accepted: [Accepted] = []

    /// Makes a request that has no answer yet.
    package init(at: Timestamp, content: Content, parties: Parties) {
        self.at = at
        self.content = content
        self.parties = parties
        complete(json)
    }

    /// The bytes that count towards the bound.
    var cost: Int {
        func bytes(_ fields: [Field]) -> Int { fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 } }
        let answer = answer.map { bytes($0.fields) + $0.body.count } ?? 0
        let texts = [title, text, parties.token, parties.topic, parties.condition]
        return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } + content.body.count + content.path.utf8.count
            + bytes(content.fields) + answer + 512
            + accepted.reduce(0) { $0 + $1.payload.count + 64 }
    }
}

extension ReceivedRequest {
    /// The body as JSON, read anew; `nil` where it is none.
    package var json: JSONValue? { try? JSONValue(object: content.body) }

    /// Takes from the content what the endpoint did not say.
    private mutating func complete(_ json: JSONValue?) {
        if let named = content.fields.first(where: { $0.name == "aldaba-namespace" })?.value {
            parties.namespace = named
        }
        let alert = Alert(json, content.interface)
        (title, text) = (alert.title, alert.text)
        guard let message = Alert.message(json, content.interface) else { return }
        let receiver = message["to"]?.text
        let topic = receiver?.hasPrefix("/topics/") == true ? receiver.map { String($0.dropFirst(8)) } : nil
        parties.token = parties.token ?? message["token"]?.text ?? (topic == nil ? receiver : nil)
        parties.topic = parties.topic ?? message["topic"]?.text ?? topic
        parties.condition = parties.condition ?? message["condition"]?.text
    }

    /// The app's topic; `nil` where none is known.
    package var app: String? {
        if let app = parties.app { return app }
        return accepted.first.flatMap { $0.app.isEmpty ? nil : $0.app }
    }
}

/// The text that a person would read of a request.
private struct Alert {
    var title: String?
    var text: String?

    init(_ json: JSONValue?, _ interface: ReceivedRequest.Interface) {
        let message = Self.message(json, interface)
        let payload = interface == .apns || interface == .binary ? json : message?["apns"]?["payload"]
        let alert = payload?["aps"]?["alert"]
        func find(_ name: String) -> String? {
            alert?[name]?.text ?? message?["notification"]?[name]?.text
                ?? message?["android"]?["notification"]?[name]?.text
                ?? message?["webpush"]?["notification"]?[name]?.text
        }
        title = find("title")
        text = alert?.text ?? find("body")
    }

    /// The message of FCM's, or of a request about its topics.
    static func message(_ json: JSONValue?, _ interface: ReceivedRequest.Interface) -> JSONValue? {
        switch interface {
        case .fcm: json?["message"]
        case .legacyFCM, .topics: json
        default: nil
        }
    }
}
