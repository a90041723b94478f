import PushCore

/// A notification as the interfaces of push services and programs take it.
struct MessageViews {
    /// The notification.
    let message: ComposedMessage
    /// The recipients and the time.
    let target: ComposedTarget
    /// The payloads of `POST /v1/payloads/check` for recipients without a language, by platform.
    let payloads: [String: JSONValue]
    /// The app's topic.
    let topic: String
    /// The instant from which the time to live counts.
    let now: Timestamp

    /// The payload of APNs.
    var apple: JSONValue { payloads["apns"] ?? .object([]) }

    /// The request to APNs: its header fields and its body.
    var apns: String {
        var text = "POST /3/device/\(target.token ?? "TOKEN")\n"
        for field in message.apnsHeaders(topic: topic, now: now) { text += "\(field.name): \(field.value)\n" }
        return text + "\n" + apple.indented
    }

    /// The body of FCM's HTTP v1.
    var fcm: String {
        var members = payloads["fcmV1"]?["message"]?.members ?? []
        switch target {
        case .topic(let name): members.insert(.init("topic", .string(name)), at: 0)
        case .condition(let text): members.insert(.init("condition", .string(text)), at: 0)
        default: members.insert(.init("token", .string(target.token ?? "TOKEN")), at: 0)
        }
        var android: [JSONValue.Member] = []
        if !message.ttl.isEmpty { android.append(.init("ttl", .string("\(message.ttl)s"))) }
        if message.isSilent || !message.priority.isEmpty {
            android.append(.init("priority", .string(message.priority == "10" ? "high" : "normal")))
        }
        if !message.collapseID.isEmpty { android.append(.init("collapse_key", .string(message.collapseID))) }
        Self.add(android, to: "android", of: &members)
        let headers = message.apnsHeaders(topic: "", now: now).map { JSONValue.Member($0.name, .string($0.value)) }
        Self.add([.init("headers", .object(headers))], to: "apns", of: &members)
        return JSONValue.object([.init("message", .object(members))]).indented
    }

    private static func add(_ added: [JSONValue.Member], to name: String, of members: inout [JSONValue.Member]) {
        guard !added.isEmpty else { return }
        guard let place = members.firstIndex(where: { $0.name == name }) else {
            return members.append(.init(name, .object(added)))
        }
        members[place].value = .object(added + (members[place].value.members ?? []))
    }

    private var webHeaders: String {
        var text = "TTL: \(message.ttl.isEmpty ? "2419200" : message.ttl)\n"
        text += "Urgency: \(message.priority == "1" ? "low" : message.priority == "5" ? "normal" : "high")\n"
        if !message.collapseID.isEmpty { text += "Topic: \(message.collapseID)\n" }
        return text
    }

    /// The message of Web Push for a service worker, before its encryption.
    var webPush: String {
        let members = (payloads["browser"]?.members ?? []).filter { $0.name != "web_push" }
        return webHeaders + "\n" + JSONValue.object(members).indented
    }

    /// The declarative message of Web Push; `nil` where there is no link, which it needs.
    var declarative: String? {
        guard let payload = payloads["browser"], payload["web_push"] != nil else { return nil }
        return webHeaders + "Content-Type: application/notification+json\n\n" + payload.indented
    }

    /// The template of an installation in Azure's form, and the properties of a send.
    var azure: String {
        var body = apple
        var properties: [JSONValue.Member] = []
        var alert = body["aps"]?["alert"]?.members ?? []
        for (place, member) in alert.enumerated() where member.value.text != nil {
            properties.append(member)
            alert[place].value = .string("$(\(member.name))")
        }
        if !alert.isEmpty, var aps = body["aps"]?.members, let place = aps.firstIndex(where: { $0.name == "alert" }) {
            aps[place].value = .object(alert)
            body = .object(
                (body.members ?? []).map { $0.name == "aps" ? JSONValue.Member("aps", .object(aps)) : $0 })
        }
        return body.indented + "\n\n" + JSONValue.object(properties).indented
    }

    /// The request to APNs by `curl`.
    var curl: String {
        var text = "curl --http2 -d \(SameRequest.quoted(apple.json)) \\\n"
        for field in message.apnsHeaders(topic: topic, now: now) {
            text += "  -H \(SameRequest.quoted("\(field.name): \(field.value)")) \\\n"
        }
        return text + "  -H \"authorization: bearer $TOKEN\" \\\n"
            + "  \(SameRequest.quoted("https://api.push.apple.com/3/device/\(target.token ?? "TOKEN")"))"
    }

    /// The command `aldaba send`.
    var command: String {
        var text = "printf %s \(SameRequest.quoted(apple.json)) |\n  aldaba send --token \(target.token ?? "TOKEN")"
        let options = [
            "apns-topic": "topic", "apns-push-type": "push-type", "apns-priority": "priority",
            "apns-expiration": "expiration", "apns-collapse-id": "collapse-id",
        ]
        for field in message.apnsHeaders(topic: topic, now: now) {
            guard let option = options[field.name], field.value != "alert" else { continue }
            text += " --\(option) \(SameRequest.quoted(field.value))"
        }
        return text + " --payload -"
    }
}
