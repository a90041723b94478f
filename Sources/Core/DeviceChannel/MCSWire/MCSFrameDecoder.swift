/// Reads the bytes of one direction of a connection: the version byte, then packets.
///
/// Bytes may come in any pieces. What is kept between pieces is at most one unfinished packet, and nothing at all
/// when the last piece ended with a packet. After an error the decoder repeats that error.
package struct MCSFrameDecoder: Sendable {
    /// An element of the byte stream: one `version`, then packets.
    package enum Element: Hashable, Sendable {
        /// The version byte that begins a direction.
        case version(UInt8)
        /// A complete packet.
        case packet(MCSPacket)
    }

    private var buffer: [UInt8] = []
    private var readIndex = 0
    private var versionSeen = false
    private var failure: MCSFrameError?
    /// The largest body that is accepted, in bytes; it counts for what ``next()`` reads from now on.
    package var maximumSize: Int

    /// Begins at the start of a direction, before its version byte.
    ///
    /// - Parameter maximumSize: The largest body that is accepted, in bytes.
    package init(maximumSize: Int = MCSFrame.defaultMaximumSize) {
        self.maximumSize = maximumSize
    }

    /// How many bytes of an unfinished packet are held.
    package var heldByteCount: Int { buffer.count - readIndex }

    /// Takes what was read from the connection. Call ``next()`` until it returns `nil` afterwards.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        buffer.append(contentsOf: bytes)
    }

    /// Takes what was read from the connection. Call ``next()`` until it returns `nil` afterwards.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard failure == nil else { return }
        buffer.append(contentsOf: bytes)
    }

    /// The next element that is complete, `nil` when more bytes are needed.
    ///
    /// - Throws: ``MCSFrameError``; the connection cannot be read any further.
    package mutating func next() throws(MCSFrameError) -> Element? {
        if let failure { throw failure }
        do {
            let element = try read()
            if element == nil { discardWhatWasRead() }
            return element
        } catch {
            failure = error
            buffer = []
            readIndex = 0
            throw error
        }
    }

    private mutating func read() throws(MCSFrameError) -> Element? {
        guard readIndex < buffer.count else { return nil }
        guard versionSeen else {
            versionSeen = true
            readIndex += 1
            return .version(buffer[readIndex - 1])
        }
        guard let tag = MCSTag(rawValue: buffer[readIndex]) else { throw .unknownTag(buffer[readIndex]) }
        guard let (size, bodyIndex) = try readSize(at: readIndex + 1) else { return nil }
        guard Int(size) <= maximumSize else { throw .tooLarge(size: size, limit: maximumSize) }
        guard buffer.count - bodyIndex >= Int(size) else { return nil }
        let end = bodyIndex + Int(size)
        let packet = try MCSPacket.decode(tag, [UInt8](buffer[bodyIndex..<end]))
        readIndex = end
        return .packet(packet)
    }

    /// The varint that begins at an index, and the index after it; `nil` when it is not complete yet.
    private func readSize(at start: Int) throws(MCSFrameError) -> (UInt32, Int)? {
        var size: UInt32 = 0
        for position in 0..<5 {
            let index = start + position
            guard index < buffer.count else { return nil }
            let byte = buffer[index]
            // The fifth byte holds only the four highest bits, and must be the last.
            if position == 4, byte > 0x0F { throw .malformedSize }
            size |= UInt32(byte & 0x7F) << UInt32(7 * position)
            if byte < 0x80 { return (size, index + 1) }
        }
        throw .malformedSize
    }

    /// Gives the memory back when nothing is held: an idle connection keeps no buffer.
    private mutating func discardWhatWasRead() {
        guard readIndex > 0 else { return }
        if readIndex == buffer.count {
            buffer = []
        } else {
            buffer.removeFirst(readIndex)
        }
        readIndex = 0
    }
}
