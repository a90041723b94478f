import PushCore

/// A request of the interface for broadcast channels, checked but for what the register knows.
package enum BroadcastRequest: Hashable, Sendable {
    /// Create a channel.
    case create(ChannelStoragePolicy)
    /// Read a channel's configuration.
    case read(ChannelID)
    /// Delete a channel.
    case delete(ChannelID)
    /// List the ids of all channels.
    case list
    /// Send to a channel.
    case publish(ChannelID, BroadcastFields)

    /// The only push type that channels have.
    package static let pushType = "LiveActivity"

    /// Reads a request whose method its path has.
    ///
    /// - Throws: The reason for the first fault: header fields before the body.
    package init(
        _ path: BroadcastPath, method: String, headers: HeaderBlock, body: [UInt8]
    ) throws(APNsRejection) {
        let fields = try BroadcastHeaders(headers)
        switch (path, method) {
        case (.allChannels, _): self = .list
        case (.channels, "GET"): self = .read(try fields.channel())
        case (.channels, "DELETE"): self = .delete(try fields.channel())
        case (.channels, _): self = .create(try Self.policy(in: body))
        case (.broadcasts, _):
            let channel = try fields.channel()
            self = .publish(channel, try BroadcastFields(fields, body: body))
        }
    }

    /// The policy in the body of a request that creates a channel.
    private static func policy(in body: [UInt8]) throws(APNsRejection) -> ChannelStoragePolicy {
        guard !body.isEmpty else { throw APNsRejection(.payloadEmpty, note: "the channel's configuration is absent") }
        let value: JSONValue
        do { value = try JSONValue(body) } catch {
            throw APNsRejection(.badRequestPayload, note: "the configuration is not JSON: \(error)")
        }
        guard let members = value.members else {
            throw APNsRejection(.badRequestPayload, note: "the configuration is not a JSON object")
        }
        if let other = members.map(\.name).first(where: { !["message-storage-policy", "push-type"].contains($0) }) {
            throw APNsRejection(.badRequestParams, note: "the configuration has no attribute \(other.prefix(60))")
        }
        guard let type = value["push-type"] else {
            throw APNsRejection(.missingPushType, note: "the configuration has no push-type")
        }
        guard let text = type.text, text.lowercased() == pushType.lowercased() else {
            throw APNsRejection(.invalidPushType, note: "the push-type of a channel is \(pushType)")
        }
        guard let stored = value["message-storage-policy"] else {
            throw APNsRejection(.missingChannelQueueSize, note: "the configuration has no message-storage-policy")
        }
        guard let number = stored.integer.flatMap({ Int(exactly: $0) }),
            let policy = ChannelStoragePolicy(rawValue: number)
        else { throw APNsRejection(.badRequestParams, note: "message-storage-policy is 0 or 1") }
        return policy
    }
}

/// The header fields and the payload of a message to a channel.
package struct BroadcastFields: Hashable, Sendable {
    /// `apns-request-id` or `apns-id` as sent, a well-formed UUID; `nil` when absent.
    package var requestID: String?
    /// The value of `apns-expiration`; a channel's policy limits it.
    package var expiry: Expiry
    /// The value of `apns-priority`; ``Priority/immediate`` when absent.
    package var priority: Priority
    /// The payload: a JSON object.
    package var payload: [UInt8]

    init(_ fields: BroadcastHeaders, body: [UInt8]) throws(APNsRejection) {
        requestID = fields.requestID
        guard let type = fields.text("apns-push-type") else {
            throw APNsRejection(.missingPushType, note: "apns-push-type is absent")
        }
        guard type.lowercased() == BroadcastRequest.pushType.lowercased() else {
            throw APNsRejection(.invalidPushType, note: "the apns-push-type of a broadcast is liveactivity")
        }
        let head = APNsRequestHead(fields.block)
        (expiry, priority) = (try head.expiry(), try head.priority())
        guard !body.isEmpty else { throw APNsRejection(.payloadEmpty, note: "the payload is absent") }
        guard body.count <= APNsPayloadLimit.broadcastBytes else {
            throw APNsRejection(
                .payloadTooLarge,
                note: "the payload has \(body.count) bytes, at most \(APNsPayloadLimit.broadcastBytes) are allowed")
        }
        if let fault = JSONScanner.scan(ofObject: body).fault {
            throw APNsRejection(.badRequestPayload, note: "the payload is not a JSON object: \(fault)")
        }
        payload = body
    }
}

/// The header fields that all requests about channels have.
struct BroadcastHeaders {
    let block: HeaderBlock
    let requestID: String?

    init(_ block: HeaderBlock) throws(APNsRejection) {
        self.block = block
        for name in [
            "apns-channel-id", "apns-request-id", "apns-id", "apns-push-type", "apns-expiration", "apns-priority",
        ] {
            let count = (0..<block.count).count { block.name($0).elementsEqual(name.utf8) }
            if count > 1 { throw APNsRejection(.duplicateHeaders, note: "\(name) appears twice") }
        }
        requestID = Self.text("apns-request-id", in: block) ?? Self.text("apns-id", in: block)
        if let requestID, !APNsRequestHead.isUUID(Array(requestID.utf8)[...]) {
            throw APNsRejection(
                .badMessageId, note: "apns-request-id '\(requestID.prefix(60))' is not a UUID in the form 8-4-4-4-12")
        }
    }

    func text(_ name: StaticString) -> String? { Self.text(name, in: block) }

    private static func text(_ name: StaticString, in block: HeaderBlock) -> String? {
        block.first(name).map(block.text)
    }

    func channel() throws(APNsRejection) -> ChannelID {
        guard let text = text("apns-channel-id"), !text.isEmpty else {
            throw APNsRejection(.missingChannelId, note: "apns-channel-id is absent")
        }
        guard let id = ChannelID(text: text) else {
            throw APNsRejection(.badChannelId, note: "apns-channel-id is not the base64 of a channel's id")
        }
        return id
    }
}
