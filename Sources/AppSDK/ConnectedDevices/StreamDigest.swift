import Foundation

/// The received beginning of a stream: its length and its digest. Made by appending the received bytes in order.
public struct StreamPosition: Sendable {
    /// How many bytes there are.
    public private(set) var offset: Int64 = 0
    private var digest = StreamDigest()

    /// Nothing is there.
    public init() {}

    /// The bytes that follow.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ add($0) }) == nil { add(Array(bytes)) }
    }

    private mutating func add(_ bytes: some Collection<UInt8>) {
        digest.append(bytes)
        offset += Int64(bytes.count)
    }

    /// The digest (SHA-256) of the received bytes; empty where there are none.
    var prefix: [UInt8] { offset == 0 ? [] : digest.value }
    /// The digest (SHA-256) of the received bytes, also where there are none.
    var whole: [UInt8] { digest.value }
}

/// SHA-256 (FIPS 180-4), since apps depend on nothing but the toolchain.
struct StreamDigest: Sendable {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var block: [UInt8] = []
    private var count: UInt64 = 0

    /// The first 32 bits of the fractions of the first 64 primes' cube roots, found by whole numbers alone.
    private static let constants: [UInt32] = {
        var primes: [UInt64] = []
        var number: UInt64 = 2
        while primes.count < 64 {
            if primes.allSatisfy({ number % $0 != 0 }) { primes.append(number) }
            number += 1
        }
        return primes.map { prime in
            // The largest root with root³ ≤ prime · 2⁹⁶.
            var root: UInt64 = 0
            for bit in stride(from: 34, through: 0, by: -1) {
                let tried = root | (1 << UInt64(bit))
                if isCube(of: tried, atMost: prime) { root = tried }
            }
            return UInt32(truncatingIfNeeded: root)
        }
    }()

    private static func isCube(of root: UInt64, atMost prime: UInt64) -> Bool {
        // root < 2³⁵, so its square is below 2⁷⁰ and its cube below 2¹⁰⁵.
        let square = root.multipliedFullWidth(by: root)
        let low = square.low.multipliedFullWidth(by: root)
        let (high, overflow) = low.high.addingReportingOverflow(square.high &* root)
        let limit = prime << 32
        return !overflow && (high < limit || (high == limit && low.low == 0))
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ append($0) }) == nil {
            Array(bytes).withUnsafeBufferPointer { append($0) }
        }
    }

    /// Whole blocks are read in place; only the rest of one is copied.
    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        count &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !block.isEmpty {
            let piece = rest.prefix(64 - block.count)
            rest = rest.dropFirst(piece.count)
            block += piece
            guard block.count == 64 else { return }
            let whole = block
            block = []
            whole.withUnsafeBufferPointer { mix($0) }
        }
        while rest.count >= 64 {
            mix(UnsafeBufferPointer(rebasing: rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        block += rest
    }

    /// The digest of all that was appended.
    var value: [UInt8] {
        var copy = self
        let bits = count &* 8
        // One bit, then zeros until the length ends a block.
        let end: [UInt8] = [0x80] + Array(repeating: 0, count: (119 - block.count) % 64)
        copy.append(end)
        copy.append(stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) })
        return copy.state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    private mutating func mix(_ block: UnsafeBufferPointer<UInt8>) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            Self.expand(block, into: words)
            Self.constants.withUnsafeBufferPointer { Self.mix(&state, words: words, constants: $0) }
        }
    }

    private static func turn(_ word: UInt32, _ by: UInt32) -> UInt32 { (word &>> by) | (word &<< (32 &- by)) }

    private static func expand(_ block: UnsafeBufferPointer<UInt8>, into words: UnsafeMutableBufferPointer<UInt32>) {
        for index in 0..<16 {
            let place = 4 * index
            let (high, low) = (UInt32(block[place]) << 24, UInt32(block[place + 3]))
            words[index] = high | (UInt32(block[place + 1]) << 16) | (UInt32(block[place + 2]) << 8) | low
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = turn(early, 7) ^ turn(early, 18) ^ (early &>> 3)
            let second = turn(late, 17) ^ turn(late, 19) ^ (late &>> 10)
            words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
        }
    }

    private static func mix(
        _ state: inout [UInt32], words: UnsafeMutableBufferPointer<UInt32>, constants: UnsafeBufferPointer<UInt32>
    ) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        // After eight rounds every variable has its own role again, so none has to be moved.
        for index in stride(from: 0, to: 64, by: 8) {
            turn(a, b: b, c: c, d: &d, e: e, f: f, g: g, h: &h, word: constants[index] &+ words[index])
            turn(h, b: a, c: b, d: &c, e: d, f: e, g: f, h: &g, word: constants[index + 1] &+ words[index + 1])
            turn(g, b: h, c: a, d: &b, e: c, f: d, g: e, h: &f, word: constants[index + 2] &+ words[index + 2])
            turn(f, b: g, c: h, d: &a, e: b, f: c, g: d, h: &e, word: constants[index + 3] &+ words[index + 3])
            turn(e, b: f, c: g, d: &h, e: a, f: b, g: c, h: &d, word: constants[index + 4] &+ words[index + 4])
            turn(d, b: e, c: f, d: &g, e: h, f: a, g: b, h: &c, word: constants[index + 5] &+ words[index + 5])
            turn(c, b: d, c: e, d: &f, e: g, f: h, g: a, h: &b, word: constants[index + 6] &+ words[index + 6])
            turn(b, b: c, c: d, d: &e, e: f, f: g, g: h, h: &a, word: constants[index + 7] &+ words[index + 7])
        }
        let mixed = [a, b, c, d, e, f, g, h]
        for index in 0..<8 { state[index] &+= mixed[index] }
    }

    /// Performs a round of SHA-256 in place: only `d` and `h` get new values.
    @inline(__always) private static func turn(
        _ a: UInt32, b: UInt32, c: UInt32, d: inout UInt32, e: UInt32, f: UInt32, g: UInt32,
        h: inout UInt32, word: UInt32
    ) {
        let first = h &+ (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) &+ (g ^ (e & (f ^ g))) &+ word
        d &+= first
        h = first &+ (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) &+ ((a & b) | (c & (a | b)))
    }
}
