import Foundation

extension NotificationContent: Codable {
    private enum Key: String, CodingKey {
        case title, subtitle, body, titleLocalization, subtitleLocalization, bodyLocalization, badge, sound
        case launchImageName, userInfo, userInfoPropertyList, attachments, categoryIdentifier, threadIdentifier
        case targetContentIdentifier, interruptionLevel, relevanceScore, filterCriteria, actions, openTitle, progress
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key, else value: Value) throws -> Value {
            try members.member(key, else: value)
        }
        func member<Value: Decodable>(_ key: Key) throws -> Value? {
            try members.decodeIfPresent(Value.self, forKey: key)
        }
        self.init()
        title = try member(.title, else: "")
        subtitle = try member(.subtitle, else: "")
        body = try member(.body, else: "")
        titleLocalization = try member(.titleLocalization)
        subtitleLocalization = try member(.subtitleLocalization)
        bodyLocalization = try member(.bodyLocalization)
        badge = try member(.badge)
        sound = try member(.sound)
        launchImageName = try member(.launchImageName, else: "")
        if let list: Data = try member(.userInfoPropertyList) {
            userInfo = .propertyList(list)
        } else {
            userInfo = .json(try member(.userInfo, else: "{}"))
        }
        attachments = try member(.attachments, else: [])
        categoryIdentifier = try member(.categoryIdentifier, else: "")
        threadIdentifier = try member(.threadIdentifier, else: "")
        targetContentIdentifier = try member(.targetContentIdentifier)
        interruptionLevel = try member(.interruptionLevel, else: .active)
        relevanceScore = try member(.relevanceScore, else: 0)
        filterCriteria = try member(.filterCriteria)
        actions = try member(.actions, else: [])
        openTitle = try member(.openTitle)
        progress = try member(.progress)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        let plain = NotificationContent()
        func set<Value: Encodable & Equatable>(_ key: Key, _ value: KeyPath<Self, Value>) throws {
            if self[keyPath: value] != plain[keyPath: value] {
                try members.encode(self[keyPath: value], forKey: key)
            }
        }
        try set(.title, \.title)
        try set(.subtitle, \.subtitle)
        try set(.body, \.body)
        try set(.titleLocalization, \.titleLocalization)
        try set(.subtitleLocalization, \.subtitleLocalization)
        try set(.bodyLocalization, \.bodyLocalization)
        try set(.badge, \.badge)
        try set(.sound, \.sound)
        try set(.launchImageName, \.launchImageName)
        switch userInfo {
        case .json("{}"): break
        case .json(let text): try members.encode(text, forKey: .userInfo)
        case .propertyList(let list): try members.encode(list, forKey: .userInfoPropertyList)
        }
        try set(.attachments, \.attachments)
        try set(.categoryIdentifier, \.categoryIdentifier)
        try set(.threadIdentifier, \.threadIdentifier)
        try set(.targetContentIdentifier, \.targetContentIdentifier)
        try set(.interruptionLevel, \.interruptionLevel)
        try set(.relevanceScore, \.relevanceScore)
        try set(.filterCriteria, \.filterCriteria)
        try set(.actions, \.actions)
        try set(.openTitle, \.openTitle)
        try set(.progress, \.progress)
    }
}
