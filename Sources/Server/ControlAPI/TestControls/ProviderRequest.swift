import FCMProtocol
import HTTPTypes
import PushCore
import PushServer

/// A request of a provider on the control port: its interface, and what its path says of sender and receiver.
struct ProviderRequest {
    var interface: ReceivedRequest.Interface
    var parties = ReceivedRequest.Parties()

    /// Reads a method and a path; `nil` for requests that no provider sends.
    init?(_ method: HTTPRequest.Method, path: String) {
        let parts = path.split(separator: "/").map(String.init)
        guard let first = parts.first else { return nil }
        switch (first, parts.count) {
        case ("token", 1) where method == .post: interface = .oauth
        case ("v1", 4) where parts[1] == "projects" && parts[3] == "messages:send":
            interface = .fcm
            parties.namespace = parts[2]
        case ("v1", 6...7) where parts[1] == "projects" && parts[5] == "topicSubscriptions":
            interface = .topics
            parties.namespace = parts[2]
            parties.token = parts[4]
            parties.topic = parts.count == 7 ? parts[6] : nil
        case ("fcm", 2) where parts[1] == "send": interface = .legacyFCM
        case ("fcm", 2) where parts[1] == "notification": interface = .groups
        case ("fcm", 3) where parts[1] == "send":
            interface = .webPush
            parties.token = parts[2]
        case ("wp", 2...):
            interface = .webPush
            parties.token = parts[1]
        case ("iid", 2...):
            interface = .topics
            // iid/info/TOKEN and iid/v1/TOKEN/rel/topics/TOPIC.
            parties.token = parts.count > 2 ? parts[2] : nil
            parties.topic = parts.count > 5 ? parts[5] : nil
        default: return nil
        }
    }

    /// The body without the credential in it: an assertion is cut to an ellipsis.
    ///
    /// The assertion's issuer, where there is one, becomes the sender.
    mutating func recorded(_ body: [UInt8]) -> [UInt8] {
        guard interface == .oauth else { return body }
        let fields = String(decoding: body, as: UTF8.self).split(separator: "&").map { field -> String in
            guard field.hasPrefix("assertion=") else { return String(field) }
            if let assertion = try? ServiceAssertion(String(field.dropFirst("assertion=".count))) {
                parties.key = assertion.keyID ?? assertion.issuer
                parties.namespace = ServiceAccountDirectory.project(ofAddress: assertion.issuer)
            }
            return "assertion=…"
        }
        return Array(fields.joined(separator: "&").utf8)
    }

    /// The body of an answer without the credential in it.
    func recordedAnswer(_ body: [UInt8]) -> [UInt8] {
        guard interface == .oauth, var json = try? JSONValue(object: body), json["access_token"] != nil else {
            return body
        }
        json.set("access_token", .string("…"))
        return json.bytes
    }
}
