extension ZoneRules {
    /// Why a zone file or a TZ string could not be read.
    package struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The fault in the file, in English.
        package let description: String
    }

    /// The largest zone file that is read, in bytes; the files of 2026 have up to 4 KiB.
    package static let largestFile = 256 << 10
    /// The most transitions of a zone file; the files of 2026 have up to 250.
    package static let mostTransitions = 8192

    /// Reads a zone file in the format TZif, version 1 to 4 (RFC 8536, RFC 9636).
    ///
    /// Throws `Unreadable` for other formats, and for files with leap seconds, which the system's clock does not count.
    /// Of a file with 64-bit data only these are read.
    package init(file bytes: [UInt8]) throws {
        guard bytes.count <= Self.largestFile else {
            throw Unreadable(description: "the zone file has more than \(Self.largestFile) bytes")
        }
        var reader = ZoneFileReader(bytes: bytes)
        var head = try reader.head()
        var width = 4
        if head.version >= 2 {
            try reader.skip(head.size(width: width))
            head = try reader.head()
            width = 8
        }
        let data = try reader.data(head, width: width)
        let footer = head.version >= 2 ? try reader.footer() : nil
        self = data.rules(footer: footer)
    }

    /// Reads a TZ string of POSIX, such as `CET-1CEST,M3.5.0,M10.5.0/3`; throws `Unreadable` for any other text.
    package init(posix text: String) throws {
        guard let footer = ZoneFooter(text.utf8) else {
            throw Unreadable(description: "not a TZ string of POSIX; such as CET-1CEST,M3.5.0,M10.5.0/3 would be right")
        }
        self.init(footer: footer)
    }
}

/// Reads the parts of a zone file in order, never beyond its end.
private struct ZoneFileReader {
    struct Head {
        var version: Int
        var utcFlags, standardFlags, leapSeconds, transitions, types, characters: Int

        /// The size of the data that follow.
        func size(width: Int) -> Int {
            transitions * (width + 1) + types * 6 + characters + leapSeconds * (width + 4) + standardFlags + utcFlags
        }
    }

    struct Data {
        var times: [Int64]
        var offsets: [Int32]
        var initial: Int32

        /// Transitions further away than 36 million years are dropped, so that sums stay in range.
        private static let furthest: Int64 = 1 << 50

        /// Transitions that do not change the offset are left out.
        func rules(footer: ZoneFooter?) -> ZoneRules {
            var initial = initial
            var transitions: [Int64] = []
            var kept: [Int32] = []
            for (time, offset) in zip(times, offsets) where time < Self.furthest {
                if time < -Self.furthest {
                    initial = offset
                } else if offset != kept.last ?? initial {
                    transitions.append(time)
                    kept.append(offset)
                }
            }
            let end = times.last.map { min(max($0, -Self.furthest), Self.furthest) }
            return ZoneRules(
                initial: Int64(initial), transitions: transitions, offsets: kept, footer: footer,
                footerStart: footer == nil ? .max : end ?? .min)
        }
    }

    let bytes: [UInt8]
    var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private func fault(_ text: String) -> ZoneRules.Unreadable {
        ZoneRules.Unreadable(description: "not a zone file: \(text) (at byte \(place))")
    }

    mutating func skip(_ count: Int) throws {
        guard count <= bytes.count - place else { throw fault("it ends too early") }
        place += count
    }

    private mutating func integer(_ width: Int) throws -> Int64 {
        let start = place
        try skip(width)
        let bits = bytes[start..<place].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = 64 - width * 8
        return Int64(bitPattern: bits << unused) >> unused
    }

    private mutating func count(_ name: String, _ range: ClosedRange<Int64>) throws -> Int {
        let value = try integer(4)
        guard range.contains(value) else { throw fault("\(value) \(name), where \(range) may be") }
        return Int(value)
    }

    mutating func head() throws -> Head {
        let start = place
        try skip(5)
        guard bytes[start..<start + 4].elementsEqual("TZif".utf8) else { throw fault("it does not begin with TZif") }
        let version: Int
        switch bytes[start + 4] {
        case 0: version = 1
        case let byte where (50...57).contains(byte): version = Int(byte) - 48
        default: throw fault("of no known version")
        }
        try skip(15)
        let utcFlags = try count("flags of UTC", 0...256)
        let standardFlags = try count("flags of standard time", 0...256)
        let leapSeconds = try count("leap seconds", 0...1024)
        let transitions = try count("transitions", 0...Int64(ZoneRules.mostTransitions))
        let types = try count("types", 0...256)
        let characters = try count("characters", 0...4096)
        return Head(
            version: version, utcFlags: utcFlags, standardFlags: standardFlags, leapSeconds: leapSeconds,
            transitions: transitions, types: types, characters: characters)
    }

    mutating func data(_ head: Head, width: Int) throws -> Data {
        guard head.types > 0 else { throw fault("it has no type of local time") }
        guard head.leapSeconds == 0 else {
            throw fault("it counts leap seconds, which the system's clock does not")
        }
        var times: [Int64] = []
        times.reserveCapacity(head.transitions)
        for _ in 0..<head.transitions {
            let time = try integer(width)
            guard times.last.map({ $0 < time }) ?? true else { throw fault("its transitions do not ascend") }
            times.append(time)
        }
        let indexes = place
        try skip(head.transitions)
        var types: [Int32] = []
        for _ in 0..<head.types {
            let offset = try integer(4)
            guard abs(offset) <= ZoneRules.largestOffset else { throw fault("an offset of \(offset) seconds") }
            types.append(Int32(offset))
            try skip(2)
        }
        let offsets = try bytes[indexes..<indexes + head.transitions].map { index in
            guard Int(index) < types.count else { throw fault("a transition to a type that is not there") }
            return types[Int(index)]
        }
        try skip(head.characters + head.standardFlags + head.utcFlags)
        return Data(times: times, offsets: offsets, initial: types[0])
    }

    mutating func footer() throws -> ZoneFooter? {
        guard place < bytes.count, bytes[place] == 10,
            let end = bytes[(place + 1)...].firstIndex(of: 10)
        else { throw fault("its footer is not between two line feeds") }
        let text = bytes[(place + 1)..<end]
        if text.isEmpty { return nil }
        guard let footer = ZoneFooter(text) else { throw fault("its footer is not a TZ string of POSIX") }
        return footer
    }
}
