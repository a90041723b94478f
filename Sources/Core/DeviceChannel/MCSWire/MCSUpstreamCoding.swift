import PushCore

extension UpstreamMessage {
    /// Reads the upstream message in a stanza from a device.
    package init(_ stanza: MCSDataMessageStanza) {
        self.init(
            persistentID: stanza.persistentID, category: stanza.category, sender: stanza.from, recipient: stanza.to,
            appData: stanza.appDataByKey, raw: [UInt8](stanza.rawData), messageID: stanza.id,
            timeToLive: Int64(stanza.ttl), queued: Int64(stanza.queued))
    }
}

extension MCSIqStanza {
    /// A longer persistent id is left out of a refusal, in bytes of UTF-8; its packet is confirmed all the same.
    private static var longestName: Int { 1024 }
    private static var longestReason: Int { 255 }

    /// The refusal of an upstream stanza: an error that names it. Clients that do not know it pass it by.
    package init(_ refusal: UpstreamRejection, of persistentID: String) {
        self.init()
        type = .iqError
        id = persistentID.utf8.count <= Self.longestName ? persistentID : ""
        self.persistentID = id
        error.code = refusal.code
        error.message = String(refusal.reason.prefix(Self.longestReason))
    }

    /// The refusal that the packet carries, and the persistent id of what was refused; `nil` for any other IQ.
    package var refusal: (persistentID: String, refusal: UpstreamRejection)? {
        guard type == .iqError, hasError else { return nil }
        return (persistentID, UpstreamRejection(code: error.code, reason: error.message))
    }
}

extension MCSDataMessageStanza {
    private static var longestFailure: Int { 255 }

    /// The refusal of an upstream stanza in FCM's format: a message of the kind `send_error` with the refused one's
    /// persistent id.
    package init(_ refusal: UpstreamRejection, of message: UpstreamMessage) {
        self.init()
        id = message.messageID
        persistentID = message.persistentID
        from = message.recipient.isEmpty ? MCSUpstream.serverAddress : message.recipient
        category = message.category
        appData = [
            MCSAppData(MCSKey.messageType, MCSMessageType.sendError),
            MCSAppData(MCSKey.failedMessage, message.messageID),
            MCSAppData(MCSKey.failureCode, String(refusal.code)),
            MCSAppData(MCSKey.failure, String(refusal.reason.prefix(Self.longestFailure))),
        ]
    }

    /// The contents of a `send_error`: the persistent id of the refused message, and the refusal; `nil` for any other
    /// stanza.
    package var sendError: (persistentID: String, refusal: UpstreamRejection)? {
        guard appData.contains(where: { $0.key == MCSKey.messageType && $0.value == MCSMessageType.sendError }) else {
            return nil
        }
        let values = appDataByKey
        return (
            persistentID,
            UpstreamRejection(
                code: values[MCSKey.failureCode].flatMap { Int32($0) } ?? 500,
                reason: values[MCSKey.failure] ?? "the server could not deliver it")
        )
    }
}
