extension Bitmap {
    /// Reads and writes the portable format of Roaring bitmaps without runs (RoaringFormatSpec), little-endian: a
    /// cookie, the number of containers, each one's key and count less one, each one's offset, then the containers.
    private static let cookie: UInt32 = 12_346

    /// The set in that format.
    package var portable: [UInt8] {
        var result: [UInt8] = []
        func add(_ value: UInt32) { withUnsafeBytes(of: value.littleEndian) { result.append(contentsOf: $0) } }
        func add(_ value: UInt16) { withUnsafeBytes(of: value.littleEndian) { result.append(contentsOf: $0) } }
        let containers = containers.map(\.normalized)
        add(Self.cookie)
        add(UInt32(keys.count))
        for (key, container) in zip(keys, containers) {
            add(key)
            add(UInt16(truncatingIfNeeded: container.count - 1))
        }
        var place = 8 + 8 * keys.count
        for container in containers {
            add(UInt32(truncatingIfNeeded: place))
            place += container.isSparse ? 2 * container.count : 8192
        }
        for container in containers {
            switch container {
            case .sparse(let list): for low in list { add(low) }
            case .dense(let words, _):
                for word in words { withUnsafeBytes(of: word.littleEndian) { result.append(contentsOf: $0) } }
            }
        }
        return result
    }

    /// Reads that format; `nil` for anything else.
    package init?(portable bytes: [UInt8]) {
        func number(_ place: Int, _ count: Int) -> UInt64? {
            guard place >= 0, place + count <= bytes.count else { return nil }
            return (0..<count).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
        }
        guard number(0, 4) == UInt64(Self.cookie), let count = number(4, 4), count <= 65_536 else { return nil }
        let size = Int(count)
        var place = 8 + 8 * size
        for index in 0..<size {
            guard let key = number(8 + 4 * index, 2).map(UInt16.init), let less = number(10 + 4 * index, 2),
                keys.last.map({ $0 < key }) ?? true
            else { return nil }
            let members = Int(less) + 1
            let container: Container
            if members <= Container.mostSparse {
                var list: [UInt16] = []
                for member in 0..<members {
                    guard let low = number(place + 2 * member, 2).map(UInt16.init), list.last.map({ $0 < low }) ?? true
                    else { return nil }
                    list.append(low)
                }
                container = .sparse(list)
                place += 2 * members
            } else {
                var words: [UInt64] = []
                for word in 0..<1024 {
                    guard let word = number(place + 8 * word, 8) else { return nil }
                    words.append(word)
                }
                guard words.reduce(0, { $0 + $1.nonzeroBitCount }) == members else { return nil }
                container = .dense(words, members)
                place += 8192
            }
            append(key, container)
        }
        guard place == bytes.count else { return nil }
    }
}

extension Bitmap.Container {
    fileprivate var isSparse: Bool { if case .sparse = self { true } else { false } }
}
