import DeviceChannel
import Foundation
import PushCore

/// What a peer can send, through everything that reads it: frames in pieces, stanzas, receipts, acknowledgements.
///
/// The first byte of the input says how the rest is cut into pieces. What was read as a packet must be written and
/// read again as the same packet.
enum MCSFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        MCSFuzz.feed(input)
    }

    private static func feed(_ input: UnsafeBufferPointer<UInt8>) {
        guard let first = input.first else { return }
        let pieceSize = Int(first) + 1
        var decoder = MCSFrameDecoder(maximumSize: 1 << 16)
        var rest = input.dropFirst()
        do throws(MCSFrameError) {
            while !rest.isEmpty {
                decoder.append(rest.prefix(pieceSize))
                rest = rest.dropFirst(pieceSize)
                while let element = try decoder.next() {
                    if case .packet(let packet) = element { readAgain(packet) }
                }
            }
        } catch {
            // A refusal is what most inputs deserve.
            return
        }
    }

    private static func readAgain(_ packet: MCSPacket) {
        var bytes: [UInt8] = [41]
        var decoder = MCSFrameDecoder()
        do throws(MCSFrameError) {
            try packet.encode(into: &bytes)
            decoder.append(bytes)
            _ = try decoder.next()
            let again = try decoder.next()
            precondition(again == .packet(packet), "a packet is read again as it was written")
        } catch {
            preconditionFailure("a packet that was read cannot be written: \(error)")
        }
        readContents(of: packet)
    }

    private static func readContents(of packet: MCSPacket) {
        switch packet {
        case .dataMessage(let stanza):
            _ = stanza.receipts()
            _ = UpstreamMessage(stanza)
            guard let notification = try? stanza.notification() else { return }
            let again = MCSDataMessageStanza(notification, now: notification.acceptedAt)
            precondition((try? again.notification()) == notification, "a notification survives being written")
        case .iq(let iq):
            _ = iq.acknowledgement
            guard let (persistentID, refusal) = iq.refusal else { return }
            _ = MCSIqStanza(refusal, of: persistentID)
        case .heartbeatPing, .heartbeatAck, .login, .loginResponse, .close, .streamError, .historic, .relayed: break
        }
    }
}
