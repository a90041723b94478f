import RelayWire

/// Passes on what an app asks for of a stream: all of it, or as much at a time as may be under way while the devices say something else,
/// which would wait behind it. A value.
package struct StreamPulls {
    /// What is to be asked of the other device.
    package struct Portion: Hashable {
        /// Where it begins.
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
    /// What the app asked for and the other device was not asked for yet.
    private var rest: Portion?
    /// What the other device was asked for and has not come.
    private var underWay: Int64 = 0
    /// Where the app began with something that it has, until a piece has come.
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

    /// The least that is under way while the devices say nothing else, in bytes.
    package static let leastWindow: Int64 = 1 << 20

    /// What the other device is to be asked for now.
    ///
    /// - Parameter share: The most bytes that may be under way, beside what other streams have.
    package mutating func next(isTalking: Bool, share: Int64, at now: Int64) -> Portion? {
        guard var portion = rest else { return nil }
        let limit = isTalking ? window.bytesBesideTalk : min(share, max(Self.leastWindow, window.bytes))
        let room = limit - underWay
        // Not for every piece.
        guard portion.length == 0 || room > 0 && room >= min(portion.length, limit / 4) else { return nil }
        if portion.length > room {
            rest = Portion(offset: portion.offset + room, length: portion.length - room, prefix: [])
            portion.length = room
        } else {
            rest = nil
        }
        if portion.length > 0 { window.asked(from: portion.offset, arrived: portion.offset - underWay, at: now) }
        underWay += portion.length
        return portion
    }

    /// A piece has come that was asked for.
    package mutating func arrived(_ count: Int, at offset: Int64, now: Int64) {
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
