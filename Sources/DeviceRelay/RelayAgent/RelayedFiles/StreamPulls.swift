import CoreValues
import RelayProtocol

/// Passes on an app's requests for a stream: all of it, or only as much at a time as may be in transit while the
/// devices exchange other messages, which would wait behind it. A value.
package struct StreamPulls {
    /// A range of the stream to be requested from the other device.
    package struct Portion: Hashable {
        /// The offset of its first byte in the stream.
        package var offset: Int64
        /// How many bytes it has.
        package var length: Int64
        /// The digest of what the app has before it; empty where there is nothing.
        package var prefix: [UInt8]
    }

    /// Nothing was asked for.
    package init() {}

    /// Whether the app had the beginning of the stream before it asked.
    package private(set) var hadBeginning = false
    private var window = PieceWindow()
    /// The part that the app requested and that has not been requested from the other device yet.
    private var rest: Portion?
    /// The number of bytes requested from the other device that have not arrived.
    private var underWay: Int64 = 0
    /// The offset from which the app resumed the stream, until a piece has arrived; 0 for the beginning.
    private var start: Int64 = 0

    /// The app asks for so many bytes.
    ///
    /// - Returns: `false` where they do not follow those that it asked for before.
    package mutating func ask(_ offset: Int64, _ length: Int64, prefix: [UInt8]) -> Bool {
        if let rest {
            guard offset == rest.offset + rest.length, prefix.isEmpty else { return false }
            self.rest?.length += length
        } else {
            rest = Portion(offset: offset, length: length, prefix: prefix)
            start = prefix.isEmpty ? 0 : offset
            hadBeginning = hadBeginning || start > 0
        }
        return true
    }

    /// The least window while the devices exchange no other messages, in bytes.
    package static let leastWindow: Int64 = 1 << 20

    /// The range to request from the other device now; `nil` for none.
    ///
    /// - Parameter share: The most bytes that may be in transit, given those of other streams.
    package mutating func next(isTalking: Bool, share: Int64, at now: Timestamp) -> Portion? {
        guard var portion = rest else { return nil }
        let limit = isTalking ? window.bytesBesideTalk : min(share, max(Self.leastWindow, window.bytes))
        let capacity = limit - underWay
        // Not for every piece.
        guard portion.length == 0 || capacity > 0 && capacity >= min(portion.length, limit / 4) else { return nil }
        if portion.length > capacity {
            rest = Portion(offset: portion.offset + capacity, length: portion.length - capacity, prefix: [])
            portion.length = capacity
        } else {
            rest = nil
        }
        if portion.length > 0 { window.asked(from: portion.offset, arrived: portion.offset - underWay, at: now) }
        underWay += portion.length
        return portion
    }

    /// A piece has come that was asked for.
    package mutating func arrived(_ count: Int, at offset: Int64, now: Timestamp) {
        if offset == 0, start > 0 {
            // What the app has is of another stream: all that it asked for lies so much further to the front.
            rest?.offset -= start
            window.forgetSample()
        }
        start = 0
        underWay = max(0, underWay - Int64(count))
        window.arrived(upTo: offset &+ Int64(count), at: now)
    }
}
