import AldabaTestSupport

/// Changes of seeds at random; two of the same seeds give the same inputs.
struct InputMutator {
    /// The longest input, as libFuzzer has it unless told otherwise.
    private static let longest = 4096
    /// Bytes that mean something to many decoders.
    private static let bytes: [UInt8] =
        [0, 1, 0x7F, 0x80, 0xC0, 0xED, 0xFE, 0xFF] + Array("\"\\{}[]():;,-+.09eE%/&|!'\n \t=$".utf8)
    /// Texts and numbers at which decoders differ.
    private static let pieces: [[UInt8]] =
        [
            "1e400", "-1e400", "1e-400", "1.0", "-0", "9223372036854775808", "-9223372036854775809", "2147483648",
            "null",
            "true", "{}", "[]", "\"\"", "\\u0000", "\\ud800", "\\ud83d\\ude00", "%00", "%ff", "aps", "\r\n", "\u{FEFF}",
            "\u{202E}", "e\u{301}", "🏳️‍🌈", "&&", "||", "!", "in topics", "*", "::1", "0x10", "NaN", "Infinity",
        ].map { Array($0.utf8) } + [
            [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0x80, 0x80, 0x80, 0x80, 0x10],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0xED, 0xA0, 0x80], [0xC0, 0x80],
        ]

    private let seeds: [[UInt8]]
    private var random = SeededGenerator(seed: 1)
    private var last: [UInt8] = []

    init(_ seeds: [[UInt8]]) { self.seeds = seeds }

    /// Makes the next input: of a seed, or of the last input, with some changes.
    mutating func next() -> [UInt8] {
        if !Bool.random(using: &random) || last.isEmpty { last = seeds.randomElement(using: &random) ?? [] }
        for _ in 0..<Int.random(in: 1...5, using: &random) { change() }
        last.removeLast(max(0, last.count - Self.longest))
        return last
    }

    private mutating func change() {
        let place = Int.random(in: 0...last.count, using: &random)
        let rest = last.count - place
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where rest > 0: last[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where rest > 0: last[place] = Self.bytes.randomElement(using: &random) ?? 0
        case 2 where rest > 0: last[place] &+= UInt8.random(in: 0...UInt8.max, using: &random)
        case 3: last.insert(Self.bytes.randomElement(using: &random) ?? 0, at: place)
        case 4: last.removeSubrange(place..<place + Int.random(in: 0...min(rest, 16), using: &random))
        case 5: last.insert(contentsOf: part(of: last), at: place)
        case 6: last.insert(contentsOf: part(of: seeds.randomElement(using: &random) ?? []), at: place)
        case 7: last.insert(contentsOf: Self.pieces.randomElement(using: &random) ?? [], at: place)
        default:
            // A token is replaced by another.
            let end = last[place...].firstIndex { !isOfToken($0) } ?? last.count
            last.replaceSubrange(place..<end, with: Self.pieces.randomElement(using: &random) ?? [])
        }
    }

    private func isOfToken(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte > 0x7F
    }

    private mutating func part(of input: [UInt8]) -> ArraySlice<UInt8> {
        let start = Int.random(in: 0...input.count, using: &random)
        return input[start..<Int.random(in: start...min(input.count, start + 64), using: &random)]
    }
}
