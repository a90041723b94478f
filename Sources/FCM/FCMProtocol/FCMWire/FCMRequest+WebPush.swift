import PushCore

extension FCMWebPush {
    /// Reads the fields for browsers.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        self.init()
        var image: String?
        if let headers = try fields.map("headers") { image = try take(headers, at: fields.place("headers")) }
        data = try FCMMessage.data(&fields)
        if let value = fields.take("notification") {
            notification = try Self.shown(value, at: fields.place("notification"))
        }
        if let image, notification?.contains(where: { $0.name == "image" }) != true {
            notification = (notification ?? []) + [.init("image", .string(image))]
        }
        (label, _, link) = try FCMMessage.options(&fields, hasLink: true)
        try fields.end()
    }

    /// The longest topic of a push message (RFC 8030, section 5.4).
    private static let longestTopic = 32

    /// Takes the header fields of a push message (RFC 8030, section 5). Others have no effect.
    ///
    /// - Returns: The picture, which Firebase's guides put among them.
    private mutating func take(_ headers: [String: String], at place: String) throws(FCMRejection) -> String? {
        var image: String?
        for (name, text) in headers.sorted(by: { $0.key < $1.key }) {
            let place = "\(place)[\(name.prefix(64))]"
            switch name.lowercased() {
            case "ttl":
                guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
                    throw .invalid(place, "must be a number of seconds, and not negative")
                }
                // What asks for more waits for as long as anything does (RFC 8030, section 5.2).
                timeToLive = min(Int64(text) ?? .max, Int64(FCMAndroid.longestTimeToLive))
            case "urgency":
                switch text.lowercased() {
                case "very-low": priority = .low
                case "low", "normal": priority = .considerate
                case "high": priority = .immediate
                default: throw .invalid(place, "must be very-low, low, normal or high")
                }
            case "topic":
                guard (1...Self.longestTopic).contains(text.utf8.count), text.utf8.allSatisfy(Self.isBase64URL) else {
                    throw .invalid(place, "must have 1 to \(Self.longestTopic) of the characters a-z A-Z 0-9 - _")
                }
                topic = text
            case "image": image = text.isEmpty ? nil : text
            default: break
            }
        }
        return image
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte) || byte == 45 || byte == 95
    }

    /// The members of a Web Notification's options. Those that the message's notification has too must be text.
    private static func shown(_ value: JSONValue, at place: String) throws(FCMRejection) -> [JSONValue.Member]? {
        guard let members = value.members else { throw .invalid(place, "must be an object, not \(value.kind)") }
        var names: Set<String> = []
        for member in members {
            let place = "\(place).\(member.name.prefix(64))"
            guard names.insert(member.name).inserted else { throw .invalid(place, "is given twice") }
            guard ["title", "body", "image"].contains(member.name), member.value != .null else { continue }
            guard member.value.text != nil else { throw .invalid(place, "must be a string, not \(member.value.kind)") }
        }
        let said = members.filter { $0.value != .null }
        return said.isEmpty ? nil : said
    }
}
