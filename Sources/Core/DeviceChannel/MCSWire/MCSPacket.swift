import SwiftProtobuf

/// A packet of the device channel.
package enum MCSPacket: Hashable, Sendable {
    /// A ping; the other side answers with ``heartbeatAck(_:)``.
    case heartbeatPing(MCSHeartbeatPing)
    /// The answer to a ping.
    case heartbeatAck(MCSHeartbeatAck)
    /// A device names itself and proves it; its first packet.
    case login(MCSLoginRequest)
    /// The answer to a login; with an error the connection ends.
    case loginResponse(MCSLoginResponse)
    /// The sender ends the connection; it has no body that matters.
    case close
    /// An acknowledgement (``MCSAcknowledgement``), or something that is passed over.
    case iq(MCSIqStanza)
    /// A notification, or a batch of receipts.
    case dataMessage(MCSDataMessageStanza)
    /// A relay frame between devices, carried by a data message stanza.
    case relayed(MCSRelayedFrame)
    /// The sender cannot continue, with the cause.
    case streamError(MCSStreamErrorStanza)
    /// A packet of a kind that is not used any more. It counts as a packet; its body is not read, and not written.
    case historic(MCSTag)

    /// The byte that precedes the packet.
    package var tag: MCSTag {
        switch self {
        case .heartbeatPing: .heartbeatPing
        case .heartbeatAck: .heartbeatAck
        case .login: .loginRequest
        case .loginResponse: .loginResponse
        case .close: .close
        case .iq: .iqStanza
        case .dataMessage, .relayed: .dataMessageStanza
        case .streamError: .streamErrorStanza
        case .historic(let tag): tag
        }
    }

    /// The highest stream id that the sender has received, acknowledging all before it as well.
    ///
    /// `nil` where the packet has no such field or does not set it; setting it on such a packet does nothing.
    package var lastStreamIDReceived: Int32? {
        get {
            switch self {
            case .heartbeatPing(let ping): ping.hasLastStreamIDReceived ? ping.lastStreamIDReceived : nil
            case .heartbeatAck(let ack): ack.hasLastStreamIDReceived ? ack.lastStreamIDReceived : nil
            case .loginResponse(let response):
                response.hasLastStreamIDReceived ? response.lastStreamIDReceived : nil
            case .iq(let iq): iq.hasLastStreamIDReceived ? iq.lastStreamIDReceived : nil
            case .dataMessage(let stanza): stanza.hasLastStreamIDReceived ? stanza.lastStreamIDReceived : nil
            case .relayed(let relayed): relayed.lastStreamIDReceived
            case .login, .close, .streamError, .historic: nil
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .heartbeatPing(var ping):
                ping.lastStreamIDReceived = newValue
                self = .heartbeatPing(ping)
            case .heartbeatAck(var ack):
                ack.lastStreamIDReceived = newValue
                self = .heartbeatAck(ack)
            case .loginResponse(var response):
                response.lastStreamIDReceived = newValue
                self = .loginResponse(response)
            case .iq(var iq):
                iq.lastStreamIDReceived = newValue
                self = .iq(iq)
            case .dataMessage(var stanza):
                stanza.lastStreamIDReceived = newValue
                self = .dataMessage(stanza)
            case .relayed(var relayed):
                relayed.lastStreamIDReceived = newValue
                self = .relayed(relayed)
            case .login, .close, .streamError, .historic: break
            }
        }
    }
}

extension MCSPacket {
    /// Appends the packet as it goes on the wire: tag, size, body.
    ///
    /// - Throws: `MCSFrameError.tooLarge`; nothing was appended then.
    package func encode(
        into bytes: inout [UInt8], maximumSize: Int = MCSFrame.defaultMaximumSize
    ) throws(MCSFrameError) {
        if case .relayed(let relayed) = self {
            try appendHeader(size: relayed.size, maximumSize, to: &bytes)
            return relayed.append(to: &bytes)
        }
        let body = try encodedBody()
        try appendHeader(size: body.count, maximumSize, to: &bytes)
        bytes.append(contentsOf: body)
    }

    private func appendHeader(size: Int, _ maximumSize: Int, to bytes: inout [UInt8]) throws(MCSFrameError) {
        guard size <= maximumSize else { throw .tooLarge(size: UInt32(clamping: size), limit: maximumSize) }
        bytes.reserveCapacity(bytes.count + size + 6)
        bytes.append(tag.rawValue)
        Protobuf.appendVarint(UInt64(size), to: &bytes)
    }

    private func encodedBody() throws(MCSFrameError) -> [UInt8] {
        do {
            switch self {
            case .heartbeatPing(let message): return try message.serializedBytes()
            case .heartbeatAck(let message): return try message.serializedBytes()
            case .login(let message): return try message.serializedBytes()
            case .loginResponse(let message): return try message.serializedBytes()
            case .close, .historic, .relayed: return []
            case .iq(let message): return try message.serializedBytes()
            case .dataMessage(let message): return try message.serializedBytes()
            case .streamError(let message): return try message.serializedBytes()
            }
        } catch {
            // No field is required, so the one thing that can fail is a message beyond protobuf's own 2 GiB.
            throw .tooLarge(size: UInt32(Int32.max), limit: MCSFrame.defaultMaximumSize)
        }
    }

    /// Reads a body whose tag is known.
    static func decode(_ tag: MCSTag, _ body: [UInt8]) throws(MCSFrameError) -> MCSPacket {
        do {
            switch tag {
            case .heartbeatPing: return .heartbeatPing(try MCSHeartbeatPing(serializedBytes: body))
            case .heartbeatAck: return .heartbeatAck(try MCSHeartbeatAck(serializedBytes: body))
            case .loginRequest: return .login(try MCSLoginRequest(serializedBytes: body))
            case .loginResponse: return .loginResponse(try MCSLoginResponse(serializedBytes: body))
            case .close:
                _ = try MCSClose(serializedBytes: body)
                return .close
            case .iqStanza: return .iq(try MCSIqStanza(serializedBytes: body))
            case .dataMessageStanza:
                if let relayed = MCSRelayedFrame(body: body) { return .relayed(relayed) }
                let stanza = try MCSDataMessageStanza(serializedBytes: body)
                return MCSRelayedFrame(stanza).map(MCSPacket.relayed) ?? .dataMessage(stanza)
            case .streamErrorStanza: return .streamError(try MCSStreamErrorStanza(serializedBytes: body))
            case .messageStanza, .presenceStanza, .batchPresenceStanza, .httpRequest, .httpResponse,
                .bindAccountRequest, .bindAccountResponse, .talkMetadata:
                return .historic(tag)
            }
        } catch {
            throw .malformedBody(tag)
        }
    }
}
