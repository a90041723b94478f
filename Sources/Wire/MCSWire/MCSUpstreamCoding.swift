import PushModel

extension UpstreamMessage {
    /// What a stanza from a device carries.
    public init(_ stanza: MCSDataMessageStanza) {
        self.init(
            persistentID: stanza.persistentID, category: stanza.category, sender: stanza.from, recipient: stanza.to,
            appData: stanza.appDataByKey, raw: [UInt8](stanza.rawData))
    }
}

extension MCSIqStanza {
    /// A longer persistent id is left out of a refusal, in bytes of UTF-8; its packet is confirmed all the same.
    private static var longestName: Int { 1024 }
    private static var longestReason: Int { 255 }

    /// The refusal of an upstream stanza: an error that names it. Clients that do not know it pass it by.
    public init(_ refusal: UpstreamRefusal, of persistentID: String) {
        self.init()
        type = .iqError
        id = persistentID.utf8.count <= Self.longestName ? persistentID : ""
        self.persistentID = id
        error.code = refusal.code
        error.message = String(refusal.reason.prefix(Self.longestReason))
    }

    /// The refusal that the packet carries, and the persistent id of what was refused; `nil` for any other IQ.
    public var refusal: (persistentID: String, refusal: UpstreamRefusal)? {
        guard type == .iqError, hasError else { return nil }
        return (persistentID, UpstreamRefusal(code: error.code, reason: error.message))
    }
}
