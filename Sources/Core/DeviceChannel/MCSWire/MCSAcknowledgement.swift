import Foundation
import SwiftProtobuf

/// An acknowledgement that an IQ packet can carry.
package enum MCSAcknowledgement: Hashable, Sendable {
    /// Extension 13: it carries nothing itself; the packet's `lastStreamIDReceived` is the acknowledgement.
    case stream
    /// Extension 12: the persistent ids of single packets.
    case selective([String])
}

extension MCSIqStanza {
    /// Extension numbers of IQ packets.
    private static var selectiveAckExtension: Int32 { 12 }
    private static var streamAckExtension: Int32 { 13 }

    /// An IQ packet that carries an acknowledgement.
    package init(_ acknowledgement: MCSAcknowledgement) {
        self.init()
        type = .set
        id = ""
        switch acknowledgement {
        case .stream:
            self.extension.id = Self.streamAckExtension
            self.extension.data = Data()
        case .selective(let ids):
            self.extension.id = Self.selectiveAckExtension
            var list = MCSSelectiveAck()
            list.id = ids
            // No field is required and the ids are bounded by what fits a packet: the encoding cannot fail.
            self.extension.data = (try? list.serializedData()) ?? Data()
        }
    }

    /// The acknowledgement that the packet carries; `nil` for any other IQ and for an unreadable list of ids.
    package var acknowledgement: MCSAcknowledgement? {
        guard hasExtension else { return nil }
        switch self.extension.id {
        case Self.streamAckExtension: return .stream
        case Self.selectiveAckExtension:
            guard let list = try? MCSSelectiveAck(serializedBytes: self.extension.data) else { return nil }
            return .selective(list.id)
        default: return nil
        }
    }
}
