import PushCore

/// Reads a payload of APNs, a file `.apns`, or a message of FCM's HTTP v1 into the form.
enum PayloadFileReader {
    /// The members in which service extensions find a picture.
    private static let pictures = [
        ["attachment-url"], ["fcm_options", "image"], ["att", "file"], ["ab.att", "att", "url"],
    ]
    /// Members of the top level that are no data.
    private static let known: Set<String> = [
        "aps", "link", "action-links", "Simulator Target Bundle", "attachment-url", "fcm_options", "att", "ab.att",
    ]

    /// The form's fields of a text.
    static func form(_ tree: JSONValue) -> ComposeForm {
        if let message = tree["message"], message.members != nil { return firebase(message) }
        if tree["notification"]?.members != nil, tree["aps"] == nil { return firebase(tree) }
        var form = apple(tree).fields
        if let bundle = tree["Simulator Target Bundle"]?.text { form["app"] = bundle }
        form["to"] = "token"
        return form
    }

    private static func apple(_ tree: JSONValue) -> ComposedMessage {
        var message = ComposedMessage()
        readAPS(tree["aps"] ?? .null, links: tree["action-links"], into: &message)
        message.link = tree["link"]?.text ?? ""
        readPicture(tree, into: &message)
        let data = (tree.members ?? []).filter { !known.contains($0.name) }
        message.data = data.isEmpty ? "" : ComposedData.text(data)
        return message
    }

    private static func readAPS(_ aps: JSONValue, links: JSONValue?, into message: inout ComposedMessage) {
        let alert = aps["alert"]
        if let body = alert?.text { message.words.body = body }
        func read(_ name: String, _ text: inout String) { if let value = alert?[name]?.text { text = value } }
        read("title", &message.words.title)
        read("subtitle", &message.words.subtitle)
        read("body", &message.words.body)
        if let sound = aps["sound"]?.text ?? aps["sound"]?["name"]?.text { message.sound = sound }
        if let badge = aps["badge"]?.integer { message.badge = String(badge) }
        if let category = aps["category"]?.text { message.category = category }
        if let thread = aps["thread-id"]?.text { message.thread = thread }
        if let level = aps["interruption-level"]?.text { message.level = level }
        if alert == nil, aps["content-available"] != nil { message.isSilent = true }
        if let actions = alert?["actions"]?.items {
            message.actions = actions.prefix(ComposedMessage.mostActions).map { action in
                let id = action["id"]?.text ?? ""
                return ComposedMessage.Action(
                    id: id, title: action["title"]?.text ?? "", link: links?[id]?.text ?? "")
            }
        }
    }

    private static func readPicture(_ tree: JSONValue, into message: inout ComposedMessage) {
        for path in pictures {
            guard let address = path.reduce(tree as JSONValue?, { $0?[$1] })?.text else { continue }
            message.media = address
            let ending = address.split(separator: ".").last?.lowercased() ?? ""
            message.mediaKind = ["mp4", "m4v", "mov", "webm", "mpeg", "avi"].contains(ending) ? .video : .image
            return
        }
    }

    private static func firebase(_ tree: JSONValue) -> ComposeForm {
        var message = apple(tree["apns"]?["payload"] ?? .null)
        let notification = tree["notification"]
        func read(_ value: JSONValue?, _ text: inout String) {
            if let value = value?.text, text.isEmpty { text = value }
        }
        read(notification?["title"], &message.words.title)
        read(notification?["body"], &message.words.body)
        read(notification?["image"], &message.media)
        let android = tree["android"]
        read(android?["notification"]?["sound"], &message.sound)
        read(android?["notification"]?["click_action"], &message.category)
        read(android?["collapse_key"], &message.collapseID)
        if message.badge.isEmpty, let badge = android?["notification"]?["notification_count"]?.integer {
            message.badge = String(badge)
        }
        if let ttl = android?["ttl"]?.text { message.ttl = String(ttl.prefix { $0 != "s" && $0 != "." }) }
        if let priority = android?["priority"]?.text { message.priority = priority.lowercased() == "high" ? "10" : "5" }
        let headers = tree["apns"]?["headers"]
        read(headers?["apns-priority"], &message.priority)
        read(headers?["apns-collapse-id"], &message.collapseID)
        var data = tree["data"]?.members ?? []
        for (name, keyPath) in [("link", \ComposedMessage.link), ("subtitle", \.words.subtitle), ("video", \.media)] {
            guard let place = data.firstIndex(where: { $0.name == name }) else { continue }
            let text = data.remove(at: place).value.text ?? ""
            if name == "video" { message.mediaKind = .video }
            message[keyPath: keyPath] = text
        }
        read(tree["webpush"]?["fcm_options"]?["link"], &message.link)
        if !data.isEmpty { message.data = ComposedData.text(data) }
        message.isSilent = notification == nil && message.words == ComposedMessage.Words()
        var form = message.fields
        form["to"] = "token"
        for name in ["token", "topic", "condition"] {
            guard let value = tree[name]?.text else { continue }
            form["to"] = name
            form[name] = value
        }
        form["app"] = headers?["apns-topic"]?.text ?? android?["restricted_package_name"]?.text ?? ""
        return form
    }
}
