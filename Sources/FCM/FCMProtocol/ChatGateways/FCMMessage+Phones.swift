import PushCore

/// The payloads of a chat server's message for phones.
extension FCMMessage {
    /// The payload for APNs.
    package var applePayload: [UInt8] { JSONValue.object(apns?.payload ?? []).bytes }

    /// The collapse id of a message that is about an event and is shown; `nil` for a message that only changes numbers.
    package var eventCollapseID: String? {
        JSONValue.object(apns?.payload ?? [])["aps"]?["alert"] == nil ? nil : apns?.collapseID
    }

    /// The header fields for APNs, by their names in lower case.
    package var appleHeaders: [String: String] {
        let isBackground = JSONValue.object(apns?.payload ?? [])["aps"]?["content-available"] != nil
        var headers = ["apns-push-type": isBackground ? "background" : "alert"]
        headers["apns-priority"] = apns?.priority.map { String($0) }
        headers["apns-collapse-id"] = apns?.collapseID
        return headers
    }

    /// The body of FCM's HTTP v1 API without a target: data alone, since apps of chat servers show messages themselves.
    package var androidBody: [UInt8] {
        let payload = JSONValue.object(apns?.payload ?? [])
        var data: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            guard let value else { return }
            data.append(.init(name, .string(value.text ?? value.json)))
        }
        add("title", payload["aps"]?["alert"]?["title"])
        add("message", payload["aps"]?["alert"]?["body"])
        add("badge", payload["aps"]?["badge"])
        for member in payload.members ?? [] where member.name != "aps" { add(member.name, member.value) }
        let isUrgent = apns?.priority == Priority.immediate.rawValue
        var android: [JSONValue.Member] = [.init("priority", .string(isUrgent ? "HIGH" : "NORMAL"))]
        if let key = apns?.collapseID { android.append(.init("collapse_key", .string(key))) }
        let message = JSONValue.object([.init("data", .object(data)), .init("android", .object(android))])
        return JSONValue.object([.init("message", message)]).bytes
    }
}
