import Foundation

extension MCSDataMessageStanza {
    /// A stanza of what devices relay to each other, in either direction. Clients that do not know its category pass it by.
    public init(relayed frame: [UInt8]) {
        self.init()
        category = MCSUpstream.relayCategory
        from = MCSUpstream.serverAddress
        to = MCSUpstream.serverAddress
        rawData = Data(frame)
    }
}
