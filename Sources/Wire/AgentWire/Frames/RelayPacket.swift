import Foundation

/// Bytes about relaying, which this protocol only carries; on the wire as text in base64.
public struct RelayPacket: Codable, Hashable, Sendable {
    /// What `RelayWire` reads.
    public var frame: Data

    /// Carries these bytes.
    public init(_ frame: [UInt8]) { self.frame = Data(frame) }
}
