import Foundation

/// The position of a camera, as a JPEG file's Exif block has it (tag 0x0112, "Orientation"): how the stored rows and
/// columns become an upright picture.
struct PictureTurn: Hashable, Sendable {
    /// The values 1 to 8 of the tag; 1 is upright.
    var value = 1

    /// Upright unless the file says otherwise.
    init(jpeg data: Data) { value = Self.block(of: [UInt8](data.prefix(Self.searched))).flatMap(Self.value) ?? 1 }

    init(value: Int) { self.value = value }

    /// Whether rows become columns.
    var swapsSides: Bool { value >= 5 }

    /// The upright picture.
    func upright(_ pixels: Pixels) -> Pixels {
        guard value > 1 else { return pixels }
        let (width, height) = (pixels.width, pixels.height)
        var result = pixels
        if swapsSides { (result.width, result.height) = (height, width) }
        for row in 0..<height {
            for column in 0..<width {
                let (mirrored, inverted) = (width - 1 - column, height - 1 - row)
                let (x, y) =
                    switch value {
                    case 2: (mirrored, row)
                    case 3: (mirrored, inverted)
                    case 4: (column, inverted)
                    case 5: (row, column)
                    case 6: (inverted, column)
                    case 7: (inverted, mirrored)
                    default: (row, mirrored)
                    }
                let (from, to) = ((row * width + column) * 4, (y * result.width + x) * 4)
                for part in 0..<4 { result.bytes[to + part] = pixels.bytes[from + part] }
            }
        }
        return result
    }

    // MARK: The file

    /// A block of a JPEG file has at most 64 KiB, and Exif's is the first or the second.
    private static let searched = 256 << 10

    /// The TIFF part of the file's Exif block, after the segments before it.
    private static func block(of file: [UInt8]) -> ArraySlice<UInt8>? {
        var place = 2
        while place + 4 <= file.count, file[place] == 0xFF, file[place + 1] != 0xDA {
            let end = place + 2 + (Int(file[place + 2]) << 8 | Int(file[place + 3]))
            guard end > place + 3, end <= file.count else { return nil }
            let content = file[place + 4..<end]
            if file[place + 1] == 0xE1, content.starts(with: Array("Exif\0\0".utf8)) { return content.dropFirst(6) }
            place = end
        }
        return nil
    }

    /// The tag in the first directory of a TIFF block.
    private static func value(in block: ArraySlice<UInt8>) -> Int? {
        let isLittle = block.starts(with: [0x49, 0x49])
        guard isLittle || block.starts(with: [0x4D, 0x4D]) else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int? {
            let place = block.startIndex + offset
            guard offset >= 0, place + count <= block.endIndex else { return nil }
            let bytes = block[place..<place + count]
            return (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), let entries = number(directory, 2) else { return nil }
        for entry in 0..<entries {
            let place = directory + 2 + entry * 12
            guard let tag = number(place, 2) else { return nil }
            if tag == 0x0112 { return number(place + 8, 2).flatMap { (1...8).contains($0) ? $0 : nil } }
        }
        return nil
    }
}
