import Foundation

/// Writes messages as deterministic CBOR (RFC 8949, 4.2.1): one message has one encoding.
///
/// Dates are tag 1 (seconds since 1970, whole where they are), UUIDs tag 37, both as their registries say.
public enum RelayEncoder {
    /// The bytes of a message.
    ///
    /// - Throws: ``RelayFault`` with the place of what cannot be sent; nothing of the message has left then.
    public static func encode(
        _ message: RelayMap, limits: RelayLimits = .message
    ) throws(RelayFault) -> [UInt8] {
        var writer = Writer(limits: limits)
        // A piece of a file is written once, not copied as the bytes grow.
        let size = message.reduce(16) { $0 + $1.key.utf8.count + $1.value.ownSize }
        writer.bytes.reserveCapacity(min(size, limits.bytes))
        try writer.write(message, depth: 1)
        guard writer.bytes.count <= limits.bytes else {
            throw RelayFault(path: "", .tooLarge(bytes: writer.bytes.count, limit: limits.bytes))
        }
        return writer.bytes
    }

    /// The path to a value within a message. It is formatted only for a fault.
    struct Path {
        enum Step {
            case key(String)
            case index(Int)
        }

        private var steps: [Step] = []

        mutating func enter(_ step: Step) { steps.append(step) }
        mutating func leave() { steps.removeLast() }

        var text: String {
            steps.reduce(into: "") { text, step in
                switch step {
                case .key(let name): text += text.isEmpty ? name : "." + name
                case .index(let index): text += "[\(index)]"
                }
            }
        }
    }

    /// Appends a major type and its argument in the shortest form.
    static func appendHead(_ major: UInt8, _ argument: UInt64, to bytes: inout [UInt8]) {
        let top = major << 5
        switch argument {
        case ..<24: bytes.append(top | UInt8(argument))
        case ...0xff:
            bytes.append(top | 24)
            append(argument, size: 1, to: &bytes)
        case ...0xffff:
            bytes.append(top | 25)
            append(argument, size: 2, to: &bytes)
        case ...0xffff_ffff:
            bytes.append(top | 26)
            append(argument, size: 4, to: &bytes)
        default:
            bytes.append(top | 27)
            append(argument, size: 8, to: &bytes)
        }
    }

    private static func append(_ number: UInt64, size: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    private struct Writer {
        let limits: RelayLimits
        var bytes: [UInt8] = []
        private var entries = 0
        private var path = Path()

        init(limits: RelayLimits) { self.limits = limits }

        mutating func write(_ map: RelayMap, depth: Int) throws(RelayFault) {
            guard depth <= limits.depth else { throw RelayFault(path: path.text, .tooDeep(limit: limits.depth)) }
            head(5, UInt64(map.count))
            // The encoded names in their bytes' order: shorter ones first, since their heads say the length.
            let members = map.sorted { left, right in
                let (first, second) = (left.key.utf8, right.key.utf8)
                return first.count == second.count
                    ? first.lexicographicallyPrecedes(second) : first.count < second.count
            }
            for (name, value) in members {
                head(3, UInt64(name.utf8.count))
                bytes += name.utf8
                path.enter(.key(name))
                try write(value, depth: depth)
                path.leave()
            }
        }

        mutating func write(_ value: RelayValue, depth: Int) throws(RelayFault) {
            entries += 1
            guard entries <= limits.entries else {
                throw RelayFault(path: path.text, .tooManyEntries(limit: limits.entries))
            }
            switch value {
            case .string(let text):
                let utf8 = text.utf8
                head(3, UInt64(utf8.count))
                bytes += utf8
            case .integer(let number): integer(number)
            case .double(let number): double(number)
            case .bool(let isTrue): bytes.append(isTrue ? 0xf5 : 0xf4)
            case .date(let milliseconds):
                guard RelayDate.range.contains(milliseconds) else {
                    throw RelayFault(path: path.text, .malformed("the date is too far away"))
                }
                bytes.append(0xc1)
                if milliseconds % 1000 == 0 {
                    integer(milliseconds / 1000)
                } else {
                    double(Double(milliseconds) / 1000)
                }
            case .uuid(let id):
                bytes += [0xd8, 0x25, 0x50]
                withUnsafeBytes(of: id.uuid) { bytes += $0 }
            case .data(let data):
                head(2, UInt64(data.count))
                bytes += data
            case .array(let values):
                guard depth < limits.depth else {
                    throw RelayFault(path: path.text, .tooDeep(limit: limits.depth))
                }
                head(4, UInt64(values.count))
                for (index, element) in values.enumerated() {
                    path.enter(.index(index))
                    if let first = values.first?.kind, element.kind != first {
                        throw RelayFault(path: path.text, .mixedArray(first: first, other: element.kind))
                    }
                    try write(element, depth: depth + 1)
                    path.leave()
                }
            case .dictionary(let map): try write(map, depth: depth + 1)
            }
            // A message that is far too large is not written to its end.
            guard bytes.count <= limits.bytes else {
                throw RelayFault(path: "", .tooLarge(bytes: bytes.count, limit: limits.bytes))
            }
        }

        private mutating func integer(_ number: Int64) {
            if number >= 0 { head(0, UInt64(number)) } else { head(1, UInt64(bitPattern: ~number)) }
        }

        /// The shortest of the three floating forms that holds the number.
        private mutating func double(_ number: Double) {
            guard !number.isNaN else { return bytes += [0xf9, 0x7e, 0x00] }
            let half = Float16(number)
            if Double(half) == number {
                bytes.append(0xf9)
                return append(UInt64(half.bitPattern), size: 2)
            }
            let single = Float(number)
            if Double(single) == number {
                bytes.append(0xfa)
                return append(UInt64(single.bitPattern), size: 4)
            }
            bytes.append(0xfb)
            append(number.bitPattern, size: 8)
        }

        private mutating func head(_ major: UInt8, _ argument: UInt64) {
            RelayEncoder.appendHead(major, argument, to: &bytes)
        }

        private mutating func append(_ number: UInt64, size: Int) {
            RelayEncoder.append(number, size: size, to: &bytes)
        }
    }
}

extension RelayValue {
    /// About how many bytes the value takes, without what it holds.
    fileprivate var ownSize: Int {
        switch self {
        case .string(let text): text.utf8.count + 16
        case .data(let data): data.count + 16
        default: 32
        }
    }
}

/// The dates that there are.
enum RelayDate {
    /// The milliseconds since 1970 that a double of seconds can represent exactly; some hundred thousand years.
    static let range: ClosedRange<Int64> = -4_000_000_000_000_000...4_000_000_000_000_000
}
