import PushCore

extension CampaignContent {
    /// The payload for an installation of a language, in the terms of its push service.
    package func payload(locale: String?, for platform: HubPlatform) -> [UInt8] {
        switch platform {
        case .fcmv1, .gcm: JSONValue.object([.init("message", .object(message(locale)))]).bytes
        case .browser: JSONValue.object(declaration(locale)).bytes
        default: payload(locale: locale)
        }
    }

    private func ofAps(_ name: String) -> JSONValue? { aps.first { $0.name == name }?.value }

    private var level: String? { ofAps("interruption-level")?.text }

    /// The actions as a list of objects.
    ///
    /// - Parameters:
    ///   - id: How their ids are called.
    ///   - link: How their links are.
    private func list(_ locale: String?, id: String, link: String) -> JSONValue? {
        let actions = actions(locale: locale)
        guard !actions.isEmpty else { return nil }
        return .array(
            actions.map { action in
                var members: [JSONValue.Member] = [
                    .init(id, .string(action.id)), .init("title", .string(action.title)),
                ]
                if let target = action.link { members.append(.init(link, .string(target))) }
                return .object(members)
            })
    }

    /// A message of FCM's HTTP v1; its data are strings.
    ///
    /// Content that FCM has no member for is among the data, for the app: `subtitle`, `video`, and `actions` as JSON.
    /// Apple's devices that FCM reaches receive the same in `apns`.
    private func message(_ locale: String?) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        let words = words(locale: locale)
        var data = more.map { member in
            JSONValue.Member(member.name, .string(member.value.text ?? member.value.json))
        }
        if !isSilent {
            var shown = words.filter { $0.name != "subtitle" }
            if let image { shown.append(.init("image", .string(image))) }
            members.append(.init("notification", .object(shown)))
            data += words.filter { $0.name == "subtitle" }
            if let actions = list(locale, id: "id", link: "link") {
                data.append(.init("actions", .string(actions.json)))
            }
        }
        if let video { data.append(.init("video", .string(video))) }
        if !data.isEmpty { members.append(.init("data", .object(data))) }
        guard !isSilent else { return members }
        let android = androidNotification
        if !android.isEmpty { members.append(.init("android", .object([.init("notification", .object(android))]))) }
        let apple = appleMembers(words)
        if !apple.isEmpty {
            // FCM adds the title, the body and the data, and `fcm_options` with the picture of `notification`.
            let whole = JSONValue.Member("aps", .object([.init("alert", .object(words))] + apple))
            let pictures = pictures(beside: [whole] + more).filter { $0.name != PictureKey.firebase.name }
            members.append(
                .init("apns", .object([.init("payload", .object([.init("aps", .object(apple))] + pictures))])))
        }
        return members
    }

    /// The members that Android's notifications support.
    private var androidNotification: [JSONValue.Member] {
        var android: [JSONValue.Member] = []
        if let sound = ofAps("sound") { android.append(.init("sound", sound)) }
        if let category = ofAps("category") { android.append(.init("click_action", category)) }
        if let badge = ofAps("badge") { android.append(.init("notification_count", badge)) }
        let priorities = [
            "passive": "PRIORITY_LOW", "active": "PRIORITY_DEFAULT", "time-sensitive": "PRIORITY_HIGH",
            "critical": "PRIORITY_MAX",
        ]
        if let priority = level.flatMap({ priorities[$0] }) {
            android.append(.init("notification_priority", .string(priority)))
        }
        return android
    }

    /// The members for Apple's devices beside `notification`.
    private func appleMembers(_ words: [JSONValue.Member]) -> [JSONValue.Member] {
        let names = ["category", "thread-id", "interruption-level"]
        var apple = aps.filter { names.contains($0.name) }
        if image != nil || video != nil { apple.append(.init("mutable-content", .number("1"))) }
        if words.contains(where: { $0.name == "subtitle" }) {
            apple.insert(.init("alert", .object(words)), at: 0)
        }
        return apple
    }

    /// A declarative message of Web Push where there is a link to follow; the same members without the mark where there
    /// is none, for service workers.
    ///
    /// Content that the Notifications API does not support is among the data: `subtitle`, `category`, `thread`,
    /// `video`.
    private func declaration(_ locale: String?) -> [JSONValue.Member] {
        let words = words(locale: locale)
        var shown: [JSONValue.Member] = []
        if let title = words.first(where: { $0.name == "title" }) ?? words.first(where: { $0.name == "body" }) {
            shown.append(.init("title", title.value))
        }
        if let body = words.first(where: { $0.name == "body" }) { shown.append(body) }
        let link = more.first { $0.name == "link" }
        if let link { shown.append(.init("navigate", link.value)) }
        if let image { shown.append(.init("image", .string(image))) }
        if let actions = list(locale, id: "action", link: "navigate") { shown.append(.init("actions", actions)) }
        var data = more.filter { $0.name != "link" } + words.filter { $0.name == "subtitle" }
        for (name, key) in [("category", "category"), ("thread-id", "thread")] {
            if let value = ofAps(name) { data.append(.init(key, value)) }
        }
        if let video { data.append(.init("video", .string(video))) }
        if !data.isEmpty { shown.append(.init("data", .object(data))) }
        if isSilent || level == "passive" { shown.append(.init("silent", .boolean(true))) }
        if level == "time-sensitive" || level == "critical" {
            shown.append(.init("requireInteraction", .boolean(true)))
        }
        var members: [JSONValue.Member] = []
        if link != nil, !isSilent { members.append(.init("web_push", .number("8030"))) }
        members.append(.init("notification", .object(shown)))
        if let badge = ofAps("badge") { members.append(.init("app_badge", badge)) }
        return members
    }
}
