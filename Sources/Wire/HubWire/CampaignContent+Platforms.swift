extension CampaignContent {
    /// The payload for an installation of a language, in the terms of its push service.
    package func payload(locale: String?, for platform: HubPlatform) -> [UInt8] {
        switch platform {
        case .fcmv1, .gcm: JSONTree.object([.init("message", .object(message(locale)))]).bytes
        case .browser: JSONTree.object(declaration(locale)).bytes
        default: payload(locale: locale)
        }
    }

    private func ofAps(_ name: String) -> JSONTree? { aps.first { $0.name == name }?.value }

    /// A message of FCM's HTTP v1; its data are strings.
    private func message(_ locale: String?) -> [JSONTree.Member] {
        var members: [JSONTree.Member] = []
        if !isSilent {
            var shown = words(locale: locale).filter { $0.name != "subtitle" }
            if let image = more.first(where: { $0.name == "attachment-url" }) {
                shown.append(.init("image", image.value))
            }
            members.append(.init("notification", .object(shown)))
        }
        let data = more.map { member in
            JSONTree.Member(member.name, .string(member.value.text ?? member.value.json))
        }
        if !data.isEmpty { members.append(.init("data", .object(data))) }
        var android: [JSONTree.Member] = []
        if !isSilent, let sound = ofAps("sound") { android.append(.init("sound", sound)) }
        if !isSilent, let category = ofAps("category") { android.append(.init("click_action", category)) }
        if !android.isEmpty { members.append(.init("android", .object([.init("notification", .object(android))]))) }
        return members
    }

    /// A declarative message of Web Push where there is a link to follow; the same members without the mark where there
    /// is none, for service workers.
    private func declaration(_ locale: String?) -> [JSONTree.Member] {
        let words = words(locale: locale)
        var shown: [JSONTree.Member] = []
        if let title = words.first(where: { $0.name == "title" }) ?? words.first(where: { $0.name == "body" }) {
            shown.append(.init("title", title.value))
        }
        if let body = words.first(where: { $0.name == "body" }) { shown.append(body) }
        let link = more.first { $0.name == "link" }
        if let link { shown.append(.init("navigate", link.value)) }
        let data = more.filter { $0.name != "link" }
        if !data.isEmpty { shown.append(.init("data", .object(data))) }
        if isSilent { shown.append(.init("silent", .boolean(true))) }
        var members: [JSONTree.Member] = []
        if link != nil, !isSilent { members.append(.init("web_push", .number("8030"))) }
        members.append(.init("notification", .object(shown)))
        if let badge = ofAps("badge") { members.append(.init("app_badge", badge)) }
        return members
    }
}
