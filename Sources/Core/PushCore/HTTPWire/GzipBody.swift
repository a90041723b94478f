/// A body with the coding `gzip` (RFC 9110, section 8.4.1.3): one member (RFC 1952) of DEFLATE data (RFC 1951).
package enum GzipBody {
    /// A reason why a body cannot be decoded.
    package enum Fault: Error, Hashable, Sendable {
        /// The body is malformed or ends early.
        case malformed
        /// The decoded body would have more bytes than are taken.
        case tooLarge
    }

    /// Decodes a body.
    ///
    /// - Parameter limit: The highest number of decoded bytes; beyond it decoding ends.
    package static func decoded(_ bytes: [UInt8], limit: Int) throws(Fault) -> [UInt8] {
        guard let start = dataOffset(bytes), bytes.count >= start + 8 else { throw .malformed }
        let end = bytes.count - 8
        var inflater = Inflater(bits: BitReader(bytes: bytes[start..<end]), limit: limit)
        try inflater.run()
        func number(at offset: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
        }
        guard inflater.bits.isAtEnd, number(at: end) == CRC32.of(inflater.output),
            number(at: end + 4) == UInt32(truncatingIfNeeded: inflater.output.count)
        else { throw .malformed }
        return inflater.output
    }

    /// The offset of the compressed data behind the header of a member; `nil` for a malformed header.
    private static func dataOffset(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 10, bytes.starts(with: [0x1F, 0x8B, 8]), bytes[3] & 0xE0 == 0 else { return nil }
        let flags = bytes[3]
        var offset = 10
        if flags & 4 != 0 {
            guard bytes.count >= offset + 2 else { return nil }
            offset += 2 + Int(bytes[offset]) + Int(bytes[offset + 1]) << 8
        }
        // A name and a comment, each of which ends with a zero.
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard offset <= bytes.count, let end = bytes[offset...].firstIndex(of: 0) else { return nil }
            offset = end + 1
        }
        if flags & 2 != 0 { offset += 2 }
        return offset <= bytes.count ? offset : nil
    }
}

/// The checksum of RFC 1952, section 8.
private enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }
}

/// Reads bits from the lowest of each byte on.
private struct BitReader {
    let bytes: ArraySlice<UInt8>
    private var offset: Int
    private var held: UInt32 = 0
    private var count = 0

    init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    /// Whether every byte was begun.
    var isAtEnd: Bool { offset == bytes.endIndex }

    /// A number of up to 16 bits.
    mutating func take(_ wanted: Int) throws(GzipBody.Fault) -> Int {
        while count < wanted {
            guard offset < bytes.endIndex else { throw .malformed }
            held |= UInt32(bytes[offset]) << UInt32(count)
            offset += 1
            count += 8
        }
        let value = Int(held & (1 << UInt32(wanted) - 1))
        held >>= UInt32(wanted)
        count -= wanted
        return value
    }

    /// Passes over the rest of a byte.
    mutating func align() { (held, count) = (0, 0) }
}

/// A canonical Huffman code (RFC 1951, section 3.2.2).
private struct HuffmanCode {
    /// How many codes there are of each length, 0 to 15.
    private var counts = [Int](repeating: 0, count: 16)
    /// The symbols in the order of their codes.
    private var symbols: [Int] = []

    /// - Throws: `malformed` for lengths that are no code.
    init(lengths: some Collection<Int>) throws(GzipBody.Fault) {
        for length in lengths { counts[length] += 1 }
        counts[0] = 0
        var left = 1
        for length in 1..<16 {
            left = left << 1 - counts[length]
            guard left >= 0 else { throw .malformed }
        }
        for length in 1..<16 where counts[length] > 0 {
            for (symbol, own) in lengths.enumerated() where own == length { symbols.append(symbol) }
        }
    }

    func read(_ bits: inout BitReader) throws(GzipBody.Fault) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1..<16 {
            code |= try bits.take(1)
            let count = counts[length]
            if code - first < count { return symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw .malformed
    }
}

/// Inflates DEFLATE data up to a limit.
private struct Inflater {
    var bits: BitReader
    let limit: Int
    private(set) var output: [UInt8] = []

    init(bits: BitReader, limit: Int) {
        self.bits = bits
        self.limit = limit
    }

    mutating func run() throws(GzipBody.Fault) {
        var isLast = false
        while !isLast {
            isLast = try bits.take(1) == 1
            switch try bits.take(2) {
            case 0: try copyStored()
            case 1: try inflate(Self.fixed())
            case 2: try inflate(readCodes())
            default: throw .malformed
            }
        }
    }

    private mutating func append(_ byte: UInt8) throws(GzipBody.Fault) {
        guard output.count < limit else { throw .tooLarge }
        output.append(byte)
    }

    private mutating func copyStored() throws(GzipBody.Fault) {
        bits.align()
        let length = try bits.take(16)
        guard try bits.take(16) == ~length & 0xFFFF else { throw .malformed }
        for _ in 0..<length { try append(UInt8(try bits.take(8))) }
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12289, 16385, 24577,
    ]

    /// Reads symbols up to the end of a block (RFC 1951, section 3.2.5).
    private mutating func inflate(_ codes: (literals: HuffmanCode, distances: HuffmanCode)) throws(GzipBody.Fault) {
        while true {
            let symbol = try codes.literals.read(&bits)
            if symbol < 256 {
                try append(UInt8(symbol))
                continue
            }
            guard symbol > 256 else { return }
            guard symbol - 257 < Self.lengthBases.count else { throw .malformed }
            let length = Self.lengthBases[symbol - 257] + (try bits.take(Self.lengthBits[symbol - 257]))
            let place = try codes.distances.read(&bits)
            guard place < Self.distanceBases.count else { throw .malformed }
            let distance = Self.distanceBases[place] + (try bits.take(max(0, place / 2 - 1)))
            guard distance <= output.count else { throw .malformed }
            for _ in 0..<length { try append(output[output.count - distance]) }
        }
    }

    /// The fixed codes (RFC 1951, section 3.2.6).
    private static func fixed() throws(GzipBody.Fault) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
        return (try HuffmanCode(lengths: lengths), try HuffmanCode(lengths: [Int](repeating: 5, count: 30)))
    }

    /// The order in which the lengths of the lengths' own code come.
    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// Reads the codes of a block (RFC 1951, section 3.2.7).
    private mutating func readCodes() throws(GzipBody.Fault) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let literals = try bits.take(5) + 257
        let distances = try bits.take(5) + 1
        var own = [Int](repeating: 0, count: 19)
        for place in 0..<(try bits.take(4) + 4) { own[Self.lengthOrder[place]] = try bits.take(3) }
        let code = try HuffmanCode(lengths: own)
        var lengths: [Int] = []
        while lengths.count < literals + distances {
            switch try code.read(&bits) {
            case 16:
                guard let last = lengths.last else { throw .malformed }
                lengths += [Int](repeating: last, count: try bits.take(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try bits.take(3) + 3)
            case 18: lengths += [Int](repeating: 0, count: try bits.take(7) + 11)
            case let length: lengths.append(length)
            }
        }
        guard lengths.count == literals + distances else { throw .malformed }
        return (try HuffmanCode(lengths: lengths[..<literals]), try HuffmanCode(lengths: lengths[literals...]))
    }
}
