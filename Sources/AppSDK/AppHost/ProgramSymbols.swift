import Foundation

/// The names in the table of symbols of the program that runs (ELF, 64 bits, in the machine's own byte order).
struct ProgramSymbols {
    private let file: Data
    /// The byte ranges of the symbol table and of its name table in the file.
    private let symbols: Range<Int>
    private let names: Range<Int>

    private static let headerSize = 64
    private static let symbolSize = 24
    private static let symbolTable: UInt32 = 2

    /// `nil` for a program that has no such table, or that cannot be read.
    init?(path: String = "/proc/self/exe") {
        guard let file = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped),
            file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2])
        else { return nil }
        self.file = file
        guard let table: UInt64 = Self.number(file, 40), let size: UInt16 = Self.number(file, 58),
            let count: UInt16 = Self.number(file, 60), size >= Self.headerSize
        else { return nil }
        /// The header of a section, by its number.
        func section(_ place: Int) -> (kind: UInt32, bytes: Range<Int>, link: Int)? {
            guard let table = Int(exactly: table), place < count else { return nil }
            let (start, isTooLarge) = table.addingReportingOverflow(place * Int(size))
            guard !isTooLarge, let kind: UInt32 = Self.number(file, start + 4),
                let offset: UInt64 = Self.number(file, start + 24), let length: UInt64 = Self.number(file, start + 32),
                let link: UInt32 = Self.number(file, start + 40), let first = Int(exactly: offset),
                let long = Int(exactly: length), first <= file.count, long <= file.count - first
            else { return nil }
            return (kind, first..<first + long, Int(link))
        }
        guard let found = (0..<Int(count)).lazy.compactMap(section).first(where: { $0.kind == Self.symbolTable }),
            let strings = section(found.link)
        else { return nil }
        (symbols, names) = (found.bytes, strings.bytes)
    }

    private static func number<Number: FixedWidthInteger>(_ file: Data, _ place: Int) -> Number? {
        guard place >= 0, place <= file.count - MemoryLayout<Number>.size else { return nil }
        return file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Number.self) }
    }

    /// The names that begin with one of these texts.
    func names(beginningWith beginnings: [String]) -> [String] {
        let wanted = beginnings.map { Array($0.utf8) }
        return file.withUnsafeBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes[names])
            var found: [String] = []
            for place in stride(
                from: symbols.lowerBound, to: symbols.upperBound - Self.symbolSize + 1, by: Self.symbolSize)
            {
                let start = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                guard start < text.count, let base = text.baseAddress else { continue }
                let isWanted = wanted.contains {
                    $0.count < text.count - start && memcmp(base + start, $0, $0.count) == 0
                }
                guard isWanted, let end = text[start...].firstIndex(of: 0) else { continue }
                found.append(String(decoding: text[start..<end], as: UTF8.self))
            }
            return found
        }
    }

    /// A symbol as people read it.
    static func demangled(_ symbol: String) -> String? {
        let name = Array(symbol.utf8CString)
        guard let text = swift_demangle(name, length: name.count - 1, buffer: nil, size: nil, flags: 0) else {
            return nil
        }
        defer { free(text) }
        return String(cString: text)
    }
}

/// The runtime's own demangler; it allocates the text that it answers.
@_silgen_name("swift_demangle")
private func swift_demangle(
    _ name: UnsafePointer<CChar>?, length: Int, buffer: UnsafeMutablePointer<CChar>?,
    size: UnsafeMutablePointer<Int>?, flags: UInt32
) -> UnsafeMutablePointer<CChar>?
