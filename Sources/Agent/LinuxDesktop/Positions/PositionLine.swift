import AgentEngine
import Foundation

/// A position as text has it: a line `LATITUDE LONGITUDE [ACCURACY]`, in degrees and metres with a decimal point, or a
/// JSON object with the members `latitude`, `longitude` and, if it is known, `accuracy`. Without an accuracy it is 0.
package enum PositionLine {
    /// The longest line, in bytes.
    package static let longest = 256
    /// The expected form, for people.
    static let form = "LATITUDE LONGITUDE [ACCURACY], or a JSON object with latitude, longitude and accuracy"

    /// The fault of a text, described without repeating it: a person's position must not get into a log.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package var description: String
    }

    /// Reads one line, without its end.
    package static func read(_ line: some Collection<UInt8>) -> Result<Position, Fault> {
        guard line.count <= longest else {
            return .failure(Fault(description: "it is longer than \(longest) bytes; a position is \(form)"))
        }
        let bytes = Array(line)
        let isObject = bytes.first { !isSpace($0) } == UInt8(ascii: "{")
        guard let position = isObject ? object(bytes) : numbers(bytes) else {
            return .failure(Fault(description: "it is not \(form)"))
        }
        return check(position)
    }

    /// The position, where it can be on the earth.
    package static func check(_ position: Position) -> Result<Position, Fault> {
        func fault(_ words: String) -> Result<Position, Fault> { .failure(Fault(description: words)) }
        guard abs(position.latitude) <= 90 else { return fault("its latitude is not from -90 to 90") }
        guard abs(position.longitude) <= 180 else { return fault("its longitude is not from -180 to 180") }
        guard position.accuracy >= 0, position.accuracy.isFinite else {
            return fault("its accuracy is not a number of metres from 0")
        }
        return .success(position)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func numbers(_ bytes: [UInt8]) -> Position? {
        let words = bytes.split(whereSeparator: isSpace)
        guard (2...3).contains(words.count) else { return nil }
        let numbers = words.compactMap(number)
        guard numbers.count == words.count else { return nil }
        return Position(latitude: numbers[0], longitude: numbers[1], accuracy: numbers.count > 2 ? numbers[2] : 0)
    }

    /// Decimal numbers alone: Swift would also take hexadecimal ones, infinities and what is no number.
    private static func number(_ word: some Collection<UInt8>) -> Double? {
        guard word.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
        return Double(String(decoding: word, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func object(_ bytes: [UInt8]) -> Position? {
        struct Members: Decodable {
            var latitude: Double
            var longitude: Double
            var accuracy: Double?
        }
        guard let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)) else { return nil }
        return Position(
            latitude: members.latitude, longitude: members.longitude, accuracy: members.accuracy ?? 0)
    }
}

/// Makes lines of what comes in pieces; keeps one line at most, of a bounded length.
struct LineBuffer {
    /// A line, or as much of it as shows that it is too long.
    private var line: [UInt8] = []

    /// Takes a piece.
    ///
    /// - Returns: The lines that ended in it, without what ends them; of one that is too long a beginning that is.
    mutating func append(_ piece: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in piece {
            if byte == UInt8(ascii: "\n") {
                lines.append(line)
                line = []
            } else if line.count <= PositionLine.longest {
                line.append(byte)
            }
        }
        return lines
    }

    /// Whether the bytes of the line so far exceed the limit of a line.
    var isTooLong: Bool { line.count > PositionLine.longest }

    /// The last line, when it has no end; `nil` when there is nothing.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }
}
