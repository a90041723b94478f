import Foundation

/// Reads messages. It takes exactly what ``RelayEncoder`` writes: what it has read it would write with the same bytes.
public enum RelayDecoder {
    /// The message that bytes are.
    ///
    /// - Throws: ``RelayFault`` with the place of what is wrong.
    public static func decode(
        _ bytes: some Collection<UInt8>, limits: RelayLimits = .largestMessage
    ) throws(RelayFault) -> RelayMap {
        guard bytes.count <= limits.bytes else {
            throw RelayFault(path: "", .tooLarge(bytes: bytes.count, limit: limits.bytes))
        }
        var reader = Reader(bytes: Array(bytes), limits: limits)
        let message = try reader.message()
        guard reader.isAtEnd else { throw RelayFault(path: "", .malformed("bytes follow the message")) }
        return message
    }

    private typealias Path = RelayEncoder.Path

    private struct Reader {
        let bytes: [UInt8]
        let limits: RelayLimits
        private var place = 0
        private var entries = 0
        private var path = Path()

        init(bytes: [UInt8], limits: RelayLimits) {
            self.bytes = bytes
            self.limits = limits
        }

        var isAtEnd: Bool { place == bytes.count }

        mutating func message() throws(RelayFault) -> RelayMap {
            let (major, count) = try head()
            guard major == 5 else { throw fault("it is no map; a message is one") }
            return try map(count, depth: 1)
        }

        private mutating func map(_ count: UInt64, depth: Int) throws(RelayFault) -> RelayMap {
            guard depth <= limits.depth else { throw RelayFault(path: path.text, .tooDeep(limit: limits.depth)) }
            var map: RelayMap = [:]
            // A declared count proves nothing: capacity is reserved only for what the bytes can hold.
            map.reserveCapacity(Int(min(count, UInt64(min(limits.entries, (bytes.count - place) / 2)))))
            var last: ArraySlice<UInt8>?
            var index: UInt64 = 0
            while index < count {
                index += 1
                let start = place
                let (major, length) = try head()
                guard major == 3 else { throw fault("a name is not a text") }
                let name = try text(length)
                path.enter(.key(name))
                let written = bytes[start..<place]
                if let last, !last.lexicographicallyPrecedes(written) {
                    throw last == written
                        ? RelayFault(path: path.text, .duplicateKey)
                        : fault("the names are not in their order, shorter ones first")
                }
                last = written
                let value = try value(depth: depth)
                // Texts that differ in bytes may be equal to Swift.
                guard map.updateValue(value, forKey: name) == nil else {
                    throw RelayFault(path: path.text, .duplicateKey)
                }
                path.leave()
            }
            return map
        }

        private mutating func value(depth: Int) throws(RelayFault) -> RelayValue {
            entries += 1
            guard entries <= limits.entries else {
                throw RelayFault(path: path.text, .tooManyEntries(limit: limits.entries))
            }
            guard place < bytes.count else { throw fault("the bytes end in it") }
            if bytes[place] >> 5 == 7 { return try simple() }
            let (major, argument) = try head()
            switch major {
            case 0, 1: return .integer(try integer(major, argument))
            case 2: return .data(Array(try take(argument)))
            case 3: return .string(try text(argument))
            case 4: return .array(try array(argument, depth: depth + 1))
            case 5: return .dictionary(try map(argument, depth: depth + 1))
            default: return try tagged(argument)
            }
        }

        private mutating func array(_ count: UInt64, depth: Int) throws(RelayFault) -> [RelayValue] {
            guard depth <= limits.depth else { throw RelayFault(path: path.text, .tooDeep(limit: limits.depth)) }
            var values: [RelayValue] = []
            while values.count < count {
                path.enter(.index(values.count))
                let value = try value(depth: depth)
                if let first = values.first?.kind, first != value.kind {
                    throw RelayFault(path: path.text, .mixedArray(first: first, other: value.kind))
                }
                values.append(value)
                path.leave()
            }
            return values
        }

        /// Dates and UUIDs.
        private mutating func tagged(_ tag: UInt64) throws(RelayFault) -> RelayValue {
            switch tag {
            case 1: return .date(milliseconds: try milliseconds())
            case 37:
                let (major, length) = try head()
                guard major == 2, length == 16 else { throw fault("a UUID has 16 bytes") }
                var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                let content = try take(length)
                withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: content) }
                return .uuid(UUID(uuid: id))
            default: throw fault("the tag \(tag) is not used; dates are tag 1, UUIDs tag 37")
            }
        }

        private mutating func milliseconds() throws(RelayFault) -> Int64 {
            guard place < bytes.count else { throw fault("the bytes end in it") }
            if bytes[place] >> 5 == 7 {
                guard case .double(let seconds) = try simple() else { throw fault("a date is a number") }
                let milliseconds = (seconds * 1000).rounded()
                guard abs(milliseconds) <= 4e15, milliseconds.truncatingRemainder(dividingBy: 1000) != 0,
                    milliseconds / 1000 == seconds
                else { throw fault("a date is whole seconds as an integer, or whole milliseconds as a double") }
                return Int64(milliseconds)
            }
            let (major, argument) = try head()
            guard major <= 1 else { throw fault("a date is a number of seconds") }
            let (milliseconds, overflow) = try integer(major, argument).multipliedReportingOverflow(by: 1000)
            guard !overflow, RelayDate.range.contains(milliseconds) else {
                throw fault("the date is too far away")
            }
            return milliseconds
        }

        private func integer(_ major: UInt8, _ argument: UInt64) throws(RelayFault) -> Int64 {
            guard let number = Int64(exactly: argument) else {
                throw fault("the integer needs more than 64 bits with a sign")
            }
            return major == 0 ? number : ~number
        }

        /// Truth values and numbers with a binary point, the latter in the shortest form that holds them.
        private mutating func simple() throws(RelayFault) -> RelayValue {
            let first = bytes[place]
            place += 1
            switch first {
            case 0xf4: return .bool(false)
            case 0xf5: return .bool(true)
            case 0xf9:
                let half = Float16(bitPattern: UInt16(try number(2)))
                guard !half.isNaN || half.bitPattern == 0x7e00 else { throw fault("NaN is written f9 7e 00") }
                return .double(Double(half))
            case 0xfa:
                let single = Float(bitPattern: UInt32(try number(4)))
                guard !single.isNaN, Float(Float16(single)) != single else {
                    throw fault("the number has a shorter form")
                }
                return .double(Double(single))
            case 0xfb:
                let number = Double(bitPattern: try number(8))
                guard !number.isNaN, Double(Float(number)) != number else {
                    throw fault("the number has a shorter form")
                }
                return .double(number)
            default: throw fault("the byte \(String(first, radix: 16)) is no value of this encoding")
            }
        }

        /// A major type below 7 and its argument in the shortest form.
        private mutating func head() throws(RelayFault) -> (major: UInt8, argument: UInt64) {
            guard place < bytes.count else { throw fault("the bytes end in it") }
            let first = bytes[place]
            place += 1
            let short = first & 0x1f
            guard short >= 24 else { return (first >> 5, UInt64(short)) }
            guard short <= 27 else { throw fault("lengths are said in front; none is left open") }
            let size = 1 << Int(short - 24)
            let argument = try number(size)
            let least: UInt64 = size == 1 ? 24 : 1 << UInt64(size * 4)
            guard argument >= least else { throw fault("a number has a shorter form") }
            return (first >> 5, argument)
        }

        private mutating func number(_ size: Int) throws(RelayFault) -> UInt64 {
            var number: UInt64 = 0
            for byte in try take(UInt64(size)) { number = number << 8 | UInt64(byte) }
            return number
        }

        private mutating func text(_ length: UInt64) throws(RelayFault) -> String {
            guard let text = String(validUTF8: try take(length)) else {
                throw fault("a text is not UTF-8")
            }
            return text
        }

        private mutating func take(_ length: UInt64) throws(RelayFault) -> ArraySlice<UInt8> {
            guard length <= UInt64(bytes.count - place) else { throw fault("the bytes end in it") }
            let start = place
            place += Int(length)
            return bytes[start..<place]
        }

        private func fault(_ what: String) -> RelayFault {
            RelayFault(path: path.text, .malformed(what))
        }
    }
}
