import Foundation
import UserNotifications

/// A picture that the app draws itself, in rectangles, and writes as PNG (W3C, "Portable Network Graphics").
public struct DrawnImage: Sendable {
    /// A colour by its parts.
    public struct Colour: Hashable, Sendable {
        var red, green, blue: UInt8

        /// Each part from 0 to 255.
        public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }
    }

    /// In pixels, 1 to 1024.
    public let width, height: Int
    private var rows: [[Colour]]

    /// A picture of one colour.
    public init(width: Int, height: Int, colour: Colour) {
        self.width = min(max(width, 1), 1024)
        self.height = min(max(height, 1), 1024)
        rows = Array(repeating: Array(repeating: colour, count: self.width), count: self.height)
    }

    /// Fills a rectangle; what lies beyond the picture is left out.
    public mutating func fill(_ columns: Range<Int>, _ lines: Range<Int>, _ colour: Colour) {
        for line in lines.clamped(to: 0..<height) {
            for column in columns.clamped(to: 0..<width) { rows[line][column] = colour }
        }
    }

    /// The picture as an attachment: the file goes to the notification when that is added.
    ///
    /// - Throws: what the file system says, or `UNError`.
    public func attachment(_ identifier: String) throws -> UNNotificationAttachment {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).png")
        try pngData.write(to: file, options: .withoutOverwriting)
        return try UNNotificationAttachment(identifier: identifier, url: file)
    }

    // MARK: The file

    /// The picture as a PNG file: 8 bits a colour, not compressed.
    public var pngData: Data {
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        data += Self.chunk("IHDR", Self.bytes(UInt32(width)) + Self.bytes(UInt32(height)) + [8, 2, 0, 0, 0])
        // Each row begins with its filter: none.
        let raw = rows.flatMap { row -> [UInt8] in
            [0] + row.flatMap { colour -> [UInt8] in [colour.red, colour.green, colour.blue] }
        }
        data += Self.chunk("IDAT", Self.stored(raw))
        data += Self.chunk("IEND", [])
        return data
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Length, name, content and checksum (section 5.3).
    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + content
        return bytes(UInt32(content.count)) + checked + bytes(crc(checked))
    }

    /// A zlib stream of blocks that are stored as they are (RFC 1950; RFC 1951, section 3.2.4).
    private static func stored(_ raw: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let block = raw[start..<min(start + 65_535, raw.count)]
            let count = UInt16(block.count)
            result.append(start + 65_535 >= raw.count ? 1 : 0)
            for number in [count, ~count] { result += [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
            result += block
        }
        return result + bytes(adler(raw))
    }

    /// CRC-32 of ISO 3309, as PNG has it (annex D).
    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
        }
    }

    /// Adler-32 (RFC 1950, section 9).
    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        let (low, high) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return high << 16 | low
    }
}
