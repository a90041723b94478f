import PushCore

/// The rules for messages from apps, as a value.
package struct AppMessageRules: Hashable, Sendable {
    /// The maximum size of keys, values and content together, in bytes.
    package var sizeLimit = 4096
    /// The maximum length of an app's id for a message, in bytes of UTF-8.
    package var nameLimit = 255
    /// The longest time to live, in seconds.
    package var longestTime: Int64 = 86_400
    /// The time for which a message with time to live 0 is queued, for providers that listen now.
    package var shortestWait = Duration.seconds(10)

    /// Creates the default rules.
    package init() {}

    /// Parses a message from a session's device to the provider of an app.
    ///
    /// - Throws: An `UpstreamRejection`, for the app's developer.
    package func read(
        _ message: UpstreamMessage, from device: DeviceID, to app: RegisteredApp, at now: Timestamp
    ) throws(AppMessageRejection) -> AppMessage {
        let name = message.messageID.isEmpty ? message.persistentID : message.messageID
        guard !name.isEmpty, name.utf8.count <= nameLimit else {
            throw AppMessageRejection(400, "the message's id has \(name.utf8.count) bytes; 1 to \(nameLimit) are right")
        }
        guard Self.names(message.recipient, app.team) else {
            throw AppMessageRejection(
                403,
                "\"\(message.recipient.prefix(80))\" is not the project of \(app.topic); its provider would be right")
        }
        guard (0...longestTime).contains(message.timeToLive) else {
            throw AppMessageRejection(
                400, "the time to live is \(message.timeToLive) seconds; 0 to \(longestTime) are right")
        }
        let size = message.appData.reduce(message.raw.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= sizeLimit else {
            throw AppMessageRejection(
                413, "keys, values and content have \(size) bytes; at most \(sizeLimit) are right")
        }
        if let key = message.appData.keys.sorted().first(where: Self.isReserved) {
            throw AppMessageRejection(
                400,
                "the key \"\(key.prefix(80))\" is reserved; choose one that is not from, nor begins with google or gcm")
        }
        let left = max(0, message.timeToLive - max(0, message.queued))
        return AppMessage(
            device: device, app: app.id, team: app.team, messageID: name, data: message.appData, raw: message.raw,
            expiresAt: now + max(.seconds(left), shortestWait))
    }

    /// Whether a key is reserved: senders and libraries use it.
    private static func isReserved(_ key: String) -> Bool {
        key.isEmpty || key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.")
    }

    /// Whether a recipient is a team: its id in either case, its project number, or `NUMBER@gcm.googleapis.com`.
    static func names(_ recipient: String, _ team: TeamID) -> Bool {
        var name = recipient[...]
        for host in ["@gcm.googleapis.com", "@fcm.googleapis.com"] where name.hasSuffix(host) {
            name = name.dropLast(host.count)
        }
        return ProjectName.names(String(name), team)
    }
}

/// The reason why a message from an app is refused, and will be refused if it is repeated.
package struct AppMessageRejection: Error, Hashable {
    /// The refusal that is sent to the device.
    package var refusal: UpstreamRejection

    init(_ code: Int32, _ reason: String) { refusal = UpstreamRejection(code: code, reason: reason) }
}
