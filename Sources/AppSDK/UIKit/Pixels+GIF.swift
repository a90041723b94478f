import Foundation

extension Pixels {
    /// The first frame of a GIF file (GIF89a), on a transparent ground; `nil` for one that is damaged before its end.
    static func gif(_ data: Data) -> Pixels? {
        var reader = GIFReader(bytes: [UInt8](data))
        return reader.firstFrame()
    }
}

/// Reads a GIF file from its beginning; a place beyond the end gives `nil`.
private struct GIFReader {
    let bytes: [UInt8]
    private var place = 6

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func firstFrame() -> Pixels? {
        guard let width = word(), let height = word(), let flags = byte(), skip(2),
            Pixels.isDecodable(width: width, height: height), let common = colours(flags)
        else { return nil }
        var transparent: Int?
        while let kind = byte() {
            switch kind {
            case 0x21:
                guard let label = byte(), let content = blocks() else { return nil }
                // A graphic control: whether a colour is transparent, and which.
                if label == 0xF9, content.count == 4 { transparent = content[0] & 1 == 1 ? Int(content[3]) : nil }
            case 0x2C: return frame(width: width, height: height, common: common, transparent: transparent)
            default: return nil
            }
        }
        return nil
    }

    /// An image: where it lies, its colours, and the numbers of its pixels' colours.
    private mutating func frame(width: Int, height: Int, common: [[UInt8]], transparent: Int?) -> Pixels? {
        guard let left = word(), let top = word(), let columns = word(), let rows = word(), let flags = byte(),
            let own = colours(flags), let size = byte(), (2...8).contains(size), let content = blocks(),
            Pixels.isDecodable(width: columns, height: rows),
            let numbers = Self.decompressed(content, size: Int(size), count: columns * rows)
        else { return nil }
        let colours = own.isEmpty ? common : own
        var pixels = Pixels(width: width, height: height, bytes: .init(repeating: 0, count: width * height * 4))
        for (index, row) in Self.order(of: rows, isInterlaced: flags & 0x40 != 0).enumerated() where top + row < height
        {
            for column in 0..<min(columns, max(0, width - left)) {
                let number = Int(numbers[index * columns + column])
                guard number != transparent, number < colours.count else { continue }
                let start = ((top + row) * width + left + column) * 4
                pixels.bytes.replaceSubrange(start..<start + 4, with: colours[number])
            }
        }
        return pixels
    }

    /// The order in which rows are stored: in four passes where they are interlaced.
    private static func order(of rows: Int, isInterlaced: Bool) -> [Int] {
        guard isInterlaced else { return Array(0..<rows) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: rows, by: $0.1)) }
    }

    /// LZW with codes that grow up to twelve bits (GIF89a, appendix F).
    private static func decompressed(_ content: [UInt8], size: Int, count: Int) -> [UInt8]? {
        let (clear, end) = (1 << size, 1 << size + 1)
        // Each code is an earlier code and one number more.
        var table: [(before: Int, last: UInt8)] = []
        func restart() { table = (0...end).map { (-1, UInt8(truncatingIfNeeded: $0)) } }
        restart()
        var (result, width, previous): ([UInt8], Int, Int?) = ([], size + 1, nil)
        var (waiting, bits) = (0, 0)
        result.reserveCapacity(count)
        for byte in content {
            waiting |= Int(byte) << bits
            bits += 8
            while bits >= width {
                let code = waiting & (1 << width - 1)
                (waiting, bits) = (waiting >> width, bits - width)
                if code == end { return result.count == count ? result : nil }
                guard code != clear else {
                    restart()
                    (width, previous) = (size + 1, nil)
                    continue
                }
                guard code < table.count || (code == table.count && previous != nil) else { return nil }
                var text: [UInt8] = []
                var next = code < table.count ? code : previous ?? -1
                while next >= 0 {
                    text.append(table[next].last)
                    next = table[next].before
                }
                text.reverse()
                if code == table.count { text.append(text[0]) }
                guard result.count + text.count <= count else { return nil }
                result += text
                if let previous, table.count < 4096 { table.append((previous, text[0])) }
                if table.count == 1 << width, width < 12 { width += 1 }
                previous = code
            }
        }
        return result.count == count ? result : nil
    }

    // MARK: Parts

    private mutating func byte() -> UInt8? {
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func word() -> Int? {
        guard let low = byte(), let high = byte() else { return nil }
        return Int(high) << 8 | Int(low)
    }

    private mutating func skip(_ count: Int) -> Bool {
        place += count
        return place <= bytes.count
    }

    /// A table of colours, if the flags say that there is one.
    private mutating func colours(_ flags: UInt8) -> [[UInt8]]? {
        guard flags & 0x80 != 0 else { return [] }
        let (start, count) = (place, 2 << Int(flags & 7))
        guard skip(count * 3) else { return nil }
        return (0..<count).map { Array(bytes[start + $0 * 3..<start + $0 * 3 + 3]) + [255] }
    }

    /// The content of blocks up to the empty one.
    private mutating func blocks() -> [UInt8]? {
        var content: [UInt8] = []
        while let count = byte() {
            guard count > 0 else { return content }
            let start = place
            guard skip(Int(count)) else { return nil }
            content += bytes[start..<place]
        }
        return nil
    }
}
