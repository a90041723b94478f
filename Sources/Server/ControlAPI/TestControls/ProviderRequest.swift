import FCMProtocol
import HTTPTypes
import PushCore
import PushServer

/// A request of a provider on the control port: its interface, and what its path says of sender and receiver.
struct ProviderRequest {
    var interface: ReceivedRequest.Interface
    var parties = ReceivedRequest.Parties()

    /// Reads a method and a path; `nil` for requests that no provider sends.
    init?(_ method: HTTPRequest.Method, path: String, query: String? = nil) {
        let parts = path.split(separator: "/").map(String.init)
        guard let first = parts.first else { return nil }
        switch (first, parts.count) {
        case ("token", 1) where method == .post: interface = .oauth
        case ("o", 3) where parts[1...] == ["oauth2", "token"]: interface = .oauth
        case ("oauth2", 3) where parts[1...] == ["v4", "token"]: interface = .oauth
        case ("v1", 4) where parts[1] == "projects" && parts[3] == "messages:send":
            interface = .fcm
            parties.namespace = parts[2]
        case ("v1", 6...7) where parts[1] == "projects" && parts[5] == "topicSubscriptions":
            interface = .topics
            parties.namespace = parts[2]
            parties.token = parts[4]
            // A query that cannot be read names no topic; the route refuses it.
            let form = try? FormFields(query ?? "")
            parties.topic = parts.count == 7 ? parts[6] : form?.first("topic_name") ?? form?.first("topicName")
        case ("fcm", 2) where parts[1] == "send": interface = .legacyFCM
        case ("fcm", 2) where parts[1] == "notification": interface = .groups
        case ("fcm", 3) where parts[1] == "send":
            interface = .webPush
            parties.token = parts[2]
        case ("wp", 2...):
            interface = .webPush
            parties.token = parts[1]
        case ("wpush", 3):
            interface = .webPush
            parties.token = parts[2]
        case ("iid", 2...):
            interface = .topics
            // iid/info/TOKEN and iid/v1/TOKEN/rel/topics/TOPIC.
            parties.token = parts.count > 2 ? parts[2] : nil
            parties.topic = parts.count > 5 ? parts[5] : nil
        default: return nil
        }
    }

    /// The body without the credentials in it: of a form the names of its fields, and the grant's type.
    ///
    /// The assertion's issuer, where there is one, becomes the sender.
    mutating func recorded(_ body: [UInt8]) -> [UInt8] {
        guard interface == .oauth else { return body }
        // A body that is no form is refused by the route, and may be a credential.
        guard let form = try? FormFields(bytes: body), !form.names.isEmpty else {
            return body.isEmpty ? [] : Array("…".utf8)
        }
        // An assertion that cannot be read names nobody.
        if let assertion = form.first("assertion").flatMap({ try? ServiceAssertion($0) }) {
            parties.key = assertion.keyID ?? assertion.issuer
            parties.namespace = ServiceAccountDirectory.project(ofAddress: assertion.issuer)
        }
        let known = ["assertion", "grant_type", "scope", "refresh_token", "client_id", "client_secret"]
        let fields = form.names.map { name in
            guard known.contains(name) else { return "…" }
            return name == "grant_type" ? "grant_type=\(form.first(name) ?? "")" : "\(name)=…"
        }
        return Array(fields.joined(separator: "&").utf8)
    }

    /// A path and its query without the values of fields that may be credentials.
    static func recorded(path: String, query: String?) -> String {
        guard let query, !query.isEmpty else { return path }
        let shown = ["topic_name", "topicName", "details", "allow_missing", "allowMissing", "page_size", "pageSize"]
        let fields = query.split(separator: "&").map { field -> Substring in
            let name = field.prefix { $0 != "=" }
            return shown.contains(String(name)) ? field : name + "=…"
        }
        return "\(path)?\(fields.joined(separator: "&"))"
    }

    /// The body of an answer without the credential in it.
    func recordedAnswer(_ body: [UInt8]) -> [UInt8] {
        // An answer that is no JSON has no access token.
        guard interface == .oauth, var json = try? JSONValue(object: body), json["access_token"] != nil else {
            return body
        }
        json.set("access_token", .string("…"))
        return json.bytes
    }
}
