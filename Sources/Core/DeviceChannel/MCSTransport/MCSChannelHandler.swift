import NIOCore
import PushCore

/// The user of a channel handler: one end of a connection. All calls are made on the connection's event loop.
package protocol MCSChannelDelegate: AnyObject {
    /// Whether more bytes should be read now.
    var wantsRead: Bool { get }
    /// The largest body that is accepted now, in bytes.
    var maximumSize: Int { get }
    /// The uptime in milliseconds at which ``tick()`` should be called; `nil` for never.
    var deadline: Int64? { get }

    /// Handles the opening of the connection, whose TLS handshake may not be finished. The peer may keep the channel
    /// until ``closed(_:)``.
    func opened(_ channel: MCSChannelHandler<Self>)
    /// Handles the version byte, once, before any packet.
    func received(version: UInt8)
    /// Handles a packet, in the order of the wire.
    func received(_ packet: MCSPacket)
    /// Handles the end of a read, after all of its packets.
    func readCompleted()
    /// Handles a change of writability: `false` while the connection's buffer is above the high mark.
    func writabilityChanged(_ isWritable: Bool)
    /// Handles the arrival of the deadline.
    func tick()
    /// Handles bytes that are no packet; nothing more is read.
    func malformed(_ error: MCSFrameError)
    /// Handles the end of the connection, with an error or not. The last call.
    func closed(_ error: (any Error)?)
}

/// The channel handler of one MCS connection: reads packets for its peer, and writes the peer's packets.
///
/// Packets are buffered, and written together when the peer has processed all of a read, or calls ``settle()``. Use it
/// on the channel's event loop only.
package final class MCSChannelHandler<Peer: MCSChannelDelegate>: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let peer: Peer
    private var context: ChannelHandlerContext?
    private var decoder: MCSFrameDecoder
    private var pending: [UInt8] = []
    private var readHeld = false
    private var isClosing = false
    private var hasOpened = false
    private var firstError: (any Error)?
    private var timer: (uptime: Int64, task: Scheduled<Void>)?
    private let allocator = ByteBufferAllocator()

    /// The number of buffered bytes that are written without waiting for the end of the read.
    private static var gatherLimit: Int { 32 * 1024 }

    /// Creates the handler of one connection, for one channel. It retains its peer.
    package init(peer: Peer) {
        self.peer = peer
        decoder = MCSFrameDecoder(maximumSize: peer.maximumSize)
    }

    // MARK: Calls of the peer

    /// Whether the connection can take more without growing its buffer.
    package var isWritable: Bool { context?.channel.isWritable ?? false }

    /// The channel; `nil` once the connection is over.
    package var channel: (any Channel)? { context?.channel }

    /// The address of the peer machine, for logs.
    package var remoteAddress: SocketAddress? { context?.remoteAddress }

    /// Buffers the version byte for the next flush. It precedes the first packet.
    package func send(version: UInt8) {
        pending.append(version)
    }

    /// Buffers a packet for the next flush. A packet that is too large for any reader closes the connection.
    package func send(_ packet: MCSPacket) {
        do throws(MCSFrameError) {
            try packet.encode(into: &pending)
        } catch {
            firstError = firstError ?? error
            close()
        }
        if pending.count >= Self.gatherLimit { flush() }
    }

    /// Buffers a notification for the next flush, like ``send(_:)``.
    package func send(_ notification: OutgoingNotification, lastStreamID: Int32, now: Timestamp) {
        do throws(MCSFrameError) {
            try notification.encodePacket(into: &pending, lastStreamID: lastStreamID, now: now)
        } catch {
            firstError = firstError ?? error
            close()
        }
        if pending.count >= Self.gatherLimit { flush() }
    }

    /// Writes buffered packets, continues reading if the peer wants that again, and resets the timer. Call it after
    /// events that did not originate in this handler.
    package func settle() {
        guard let context else { return }
        flush()
        if readHeld, !isClosing, peer.wantsRead {
            readHeld = false
            context.read()
        }
        updateTimer()
    }

    /// Writes buffered packets and closes the connection. Later bytes are not read.
    package func close() {
        guard let context, !isClosing else { return }
        flush()
        isClosing = true
        context.close(promise: nil)
    }

    // MARK: Inbound

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { open() }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        finish()
    }

    package func channelActive(context: ChannelHandlerContext) {
        open()
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        unwrapInboundIn(data).withUnsafeReadableBytes { decoder.append($0) }
        do throws(MCSFrameError) {
            while !isClosing, let element = try nextElement() {
                switch element {
                case .version(let version): peer.received(version: version)
                case .packet(let packet): peer.received(packet)
                }
            }
        } catch {
            peer.malformed(error)
            close()
        }
    }

    private func nextElement() throws(MCSFrameError) -> MCSFrameDecoder.Element? {
        decoder.maximumSize = peer.maximumSize
        return try decoder.next()
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if !isClosing { peer.readCompleted() }
        settle()
        context.fireChannelReadComplete()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        peer.writabilityChanged(context.channel.isWritable)
        settle()
        context.fireChannelWritabilityChanged()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        firstError = firstError ?? error
        isClosing = true
        context.close(promise: nil)
    }

    // MARK: Outbound

    package func read(context: ChannelHandlerContext) {
        if isClosing || peer.wantsRead {
            context.read()
        } else {
            readHeld = true
        }
    }

    // MARK: Inside

    private func open() {
        guard !hasOpened else { return }
        hasOpened = true
        peer.opened(self)
        settle()
    }

    private func finish() {
        guard context != nil else { return }
        context = nil
        isClosing = true
        timer?.task.cancel()
        timer = nil
        pending = []
        peer.closed(firstError)
    }

    private func flush() {
        guard let context, !pending.isEmpty, !isClosing else { return }
        let buffer = allocator.buffer(bytes: pending)
        pending = []
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// Updates the timer. A timer that fires too early only checks the deadline again, so a packet, which postpones the
    /// deadline, costs nothing.
    private func updateTimer() {
        guard let context, let deadline = peer.deadline else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer {
            guard deadline < timer.uptime else { return }
            timer.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(
            deadline: SessionTime.deadline(ofUptime: deadline)
        ) {
            // The timer retains the handler until it fires or the end of the connection cancels it. A weak reference
            // would make every retain of the handler slower.
            self.timerFired()
        }
        timer = (deadline, task)
    }

    private func timerFired() {
        timer = nil
        guard context != nil else { return }
        if let deadline = peer.deadline, SessionTime.now().uptime >= deadline { peer.tick() }
        settle()
    }
}
