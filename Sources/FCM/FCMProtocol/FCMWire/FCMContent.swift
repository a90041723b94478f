import PushCore

/// The JSON object of a message that travels to the device.
///
/// One with `aps` is shown, as a notification of APNs is; one without goes to the app as data. Its own id,
/// `gcm.message_id`, is put in front when it is known: with the acceptance.
package struct FCMContent: Hashable, Sendable {
    /// The members that count towards the provider's limit: all but those that FCM adds.
    private var sent: [JSONValue.Member] = []
    private let message: FCMMessage

    /// Whether there is an `aps` object: something is to be shown, or the app to be woken.
    package private(set) var hasAPS = false
    /// Whether `aps` has something that a person notices: an alert, a badge or a sound.
    package private(set) var isShown = false

    /// Maps a message.
    package init(_ message: FCMMessage) {
        self.message = message
        let image = message.apns?.image ?? message.notification?.image ?? message.android?.notification?.shown.image
        var aps = Self.aps(of: message)
        if image != nil, !aps.isEmpty, !aps.contains(where: { $0.name == "mutable-content" }) {
            // Without it no app's extension could fetch the picture.
            aps.append(.init("mutable-content", .number("1")))
        }
        var names: Set<String> = []
        func add(_ name: String, _ value: JSONValue) {
            if names.insert(name).inserted { sent.append(.init(name, value)) }
        }
        hasAPS = !aps.isEmpty
        isShown = aps.contains { ["alert", "badge", "sound"].contains($0.name) }
        if hasAPS { add("aps", .object(aps)) }
        // The payload for Apple's platforms overrides the data.
        for member in message.apns?.payload ?? [] where member.name != "aps" { add(member.name, member.value) }
        for (key, text) in (message.data ?? message.android?.data ?? [:]).sorted(by: { $0.key < $1.key }) {
            add(key, .string(text))
        }
        if let image { add("fcm_options", .object([.init("image", .string(image))])) }
    }

    /// The number of bytes that count towards the provider's limit: its names and values, those of `apns.payload` with all its names.
    /// Members that the mapping adds do not count.
    package var countedBytes: Int {
        let payload = message.apns?.payload ?? []
        let aps = JSONValue.object(payload)["aps"]?.members ?? []
        return sent.reduce(0) { sum, member in
            let isSaid = payload.contains { $0.name == member.name }
            switch member.name {
            case "aps":
                let name = isSaid ? member.name.utf8.count : 0
                return (member.value.members ?? []).reduce(sum + name) { sum, member in
                    sum + Self.countedBytes(ofAPS: member, isSaid: aps.contains { $0.name == member.name })
                }
            case "fcm_options" where !isSaid: return sum + member.value.payloadBytes
            default: return sum + member.payloadBytes
            }
        }
    }

    /// - Parameter isSaid: Whether `apns.payload` has the member, which the mapping then did not add.
    private static func countedBytes(ofAPS member: JSONValue.Member, isSaid: Bool) -> Int {
        switch member.name {
        case "alert" where !isSaid: member.value.payloadBytes
        case "mutable-content" where !isSaid: 0
        default: member.payloadBytes
        }
    }

    /// The bytes of what is for browsers alone; limited like those.
    package var countedWebBytes: Int {
        guard let webpush = message.webpush else { return 0 }
        let data = webpush.data?.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } ?? 0
        return data + JSONValue.object(webpush.notification ?? []).payloadBytes + (webpush.link?.utf8.count ?? 0)
    }

    /// The content for browsers, which replaces or overrides the rest; `nil` where the message has none.
    private var web: [JSONValue.Member]? {
        guard let webpush = message.webpush else { return nil }
        var members: [JSONValue.Member] = []
        if let shown = webpush.notification { members.append(.init("notification", .object(shown))) }
        if let data = webpush.data {
            let sorted = data.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
            members.append(.init("data", .object(sorted)))
        }
        if let link = webpush.link { members.append(.init("link", .string(link))) }
        if let label = webpush.label { members.append(.init("analytics_label", .string(label))) }
        return members.isEmpty ? nil : members
    }

    /// The bytes of the message as it is sent.
    ///
    /// - Parameters:
    ///   - team: The project that sends.
    ///   - delivery: The delivery options of the message.
    ///   - topic: The topic that it was sent to; `nil` for a message to one device.
    ///   - id: The message's own id where it is known already, as for a message which many devices share.
    ///   - readers: The clients that read it; content for browsers alone is included only where one may.
    package func bytes(
        team: TeamID, delivery: FCMDelivery, topic: String? = nil, id: NotificationID? = nil,
        readers: FCMReaders = .agents
    ) -> [UInt8] {
        var members = (id.map { [JSONValue.Member("gcm.message_id", .string($0.description))] } ?? []) + sent
        let sender = ProjectNumber(team)?.description ?? ""
        members.append(.init("google.c.sender.id", .string(sender)))
        members.append(.init("from", .string(topic.map { "/topics/\($0)" } ?? sender)))
        let said = message.apns?.label ?? message.android?.label ?? message.label
        if let label = readers == .browsers ? message.webpush?.label ?? said : said {
            members.append(.init("google.c.a.e", .string("1")))
            members.append(.init("google.c.a.m_l", .string(label)))
        }
        members.append(.init("gcm.ttl", .string(String(delivery.timeToLive))))
        if let key = delivery.collapseID, !sent.contains(where: { $0.name == "collapse_key" }) {
            members.append(.init("collapse_key", .string(key)))
        }
        if let tag = message.android?.notification?.tag {
            members.append(.init("gcm.notification.tag", .string(tag)))
        }
        if readers != .agents, let web { members.append(.init("gcm.webpush", .object(web))) }
        return JSONValue.object(members).bytes
    }

    // MARK: What is shown

    /// The members of `aps`; none for a data message.
    private static func aps(of message: FCMMessage) -> [JSONValue.Member] {
        let said = message.apns?.payload.flatMap { JSONValue.object($0)["aps"]?.members } ?? []
        guard message.notification != nil || message.android?.notification != nil || !said.isEmpty else { return [] }
        var aps = shown(message)
        for member in said {
            guard let place = aps.firstIndex(where: { $0.name == member.name }) else {
                aps.append(member)
                continue
            }
            aps[place].value = member.name == "alert" ? merged(aps[place].value, member.value) : member.value
        }
        return aps
    }

    /// The content of the platforms' notifications, before the payload for Apple's is applied.
    private static func shown(_ message: FCMMessage) -> [JSONValue.Member] {
        let android = message.android?.notification
        var alert: [JSONValue.Member] = []
        func add(_ name: String, _ text: String?) {
            if let text { alert.append(.init(name, .string(text))) }
        }
        func add(_ name: String, _ texts: [String]?) {
            if let texts, !texts.isEmpty { alert.append(.init(name, .array(texts.map { .string($0) }))) }
        }
        add("title", message.notification?.title ?? android?.shown.title)
        add("body", message.notification?.body ?? android?.shown.body)
        add("title-loc-key", android?.titleKey)
        add("title-loc-args", android?.titleArguments)
        add("loc-key", android?.bodyKey)
        add("loc-args", android?.bodyArguments)
        var aps: [JSONValue.Member] = []
        if !alert.isEmpty { aps.append(.init("alert", .object(alert))) }
        if let count = android?.count { aps.append(.init("badge", .number(String(count)))) }
        if let sound = android?.sound { aps.append(.init("sound", .string(sound))) }
        if let category = android?.clickAction { aps.append(.init("category", .string(category))) }
        if let level = android?.interruptionLevel { aps.append(.init("interruption-level", .string(level))) }
        return aps
    }

    /// An alert over another: its members count, and what it does not say stays. A text takes the place of all.
    private static func merged(_ below: JSONValue, _ above: JSONValue) -> JSONValue {
        guard let lower = below.members, let upper = above.members else { return above }
        return .object(lower.filter { member in !upper.contains { $0.name == member.name } } + upper)
    }
}

/// The kind of client that reads a message.
package enum FCMReaders: Hashable, Sendable {
    /// Agents, and libraries that are no browser's.
    case agents
    /// Browsers.
    case browsers
    /// Every subscriber.
    case anybody
}

/// The delivery options of a message: `apns` has precedence over `android`. For a browser `webpush` has precedence over
/// both.
package struct FCMDelivery: Hashable, Sendable {
    /// The priority: high where something is shown, unless the message sets another.
    package var priority: Priority
    /// The expiration time.
    package var expiry: Expiry
    /// How long that is from now, in seconds.
    package var timeToLive: Int64
    /// The collapse id, at most 64 bytes.
    package var collapseID: String?
    /// `apns-push-type`.
    package var pushType: PushType?
    /// `apns-id`.
    package var apnsID: APNsID?

    /// Determines the delivery options of a message.
    ///
    /// - Parameters:
    ///   - isShown: Whether it has content that a user notices.
    ///   - readers: The clients that read it. A message with many readers has one set of options for all, and ignores
    ///   `webpush`.
    package init(_ message: FCMMessage, isShown: Bool, now: Timestamp, readers: FCMReaders = .agents) {
        let webpush = readers == .browsers ? message.webpush : nil
        let urgent = message.android?.isUrgent ?? (isShown || webpush?.notification != nil)
        priority =
            webpush?.priority ?? message.apns?.priority.flatMap(Priority.init) ?? (urgent ? .immediate : .considerate)
        collapseID = webpush?.topic ?? message.apns?.collapseID ?? message.android?.collapseKey
        pushType = message.apns?.pushType.flatMap(PushType.init)
        apnsID = message.apns?.id.map(APNsID.init(rawValue:))
        let longest = Int64(FCMAndroid.longestTimeToLive)
        if webpush?.timeToLive == nil, let expiration = message.apns?.expiration {
            let seconds = expiration - now.rawValue / 1000
            timeToLive = expiration == 0 ? 0 : max(0, min(seconds, longest))
            expiry = expiration == 0 ? .once : .until(min(Timestamp(seconds: expiration), now + .seconds(longest)))
        } else {
            timeToLive = webpush?.timeToLive ?? message.android?.timeToLive.map(Int64.init) ?? longest
            expiry = timeToLive == 0 ? .once : .until(now + .seconds(timeToLive))
        }
    }
}

extension FCMMessage {
    /// The bytes that a message may have: 4096, to topics 2048.
    package var byteLimit: Int {
        switch target {
        case .token, .fid: 4096
        case .topic, .condition: 2048
        }
    }

    /// Maps the message, and refuses one that is too large.
    package func content() throws(FCMRejection) -> FCMContent {
        let content = FCMContent(self)
        let count = content.countedBytes
        guard count <= byteLimit else {
            throw .invalid("message", "the message is too big: \(count) bytes, at most \(byteLimit) are allowed")
        }
        guard content.countedWebBytes <= byteLimit else {
            throw .invalid(
                "message.webpush",
                "what is for browsers is too big: \(content.countedWebBytes) bytes, at most \(byteLimit) are allowed")
        }
        return content
    }
}
