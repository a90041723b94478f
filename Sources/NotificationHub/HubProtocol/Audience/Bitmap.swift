/// A set of 32-bit numbers, compressed as Roaring does: by their upper halves, each with a sorted list or, above 4096
/// members, with one bit for each of its 65,536 numbers.
package struct Bitmap: Hashable, Sendable {
    /// The numbers that share an upper half.
    enum Container: Hashable, Sendable {
        case sparse([UInt16])
        /// 1024 words, and how many of their bits are set.
        case dense([UInt64], Int)

        /// The most members of a list; above that, bits take less space.
        static let mostSparse = 4096
    }

    /// The upper halves, rising.
    var keys: [UInt16] = []
    /// The members of each upper half, in the order of `keys`.
    var containers: [Container] = []

    /// An empty set.
    package init() {}

    /// The set of some numbers, in any order.
    package init(_ numbers: some Sequence<UInt32>) { for number in numbers { insert(number) } }

    /// All numbers below an end.
    package init(below end: UInt32) {
        var start: UInt32 = 0
        while start < end {
            let count = min(65_536, Int(end - start))
            keys.append(UInt16(start >> 16))
            var words = [UInt64](repeating: 0, count: 1024)
            for bit in 0..<count { words[bit >> 6] |= 1 << UInt64(bit & 63) }
            containers.append(Container.dense(words, count).normalized)
            guard count == 65_536, start < 0xFFFF_0000 else { break }
            start += 65_536
        }
    }

    /// How many numbers there are.
    package var count: Int { containers.reduce(0) { $0 + $1.count } }

    /// Whether there is none.
    package var isEmpty: Bool { containers.isEmpty }

    /// About how many bytes the set takes.
    package var memory: Int { containers.reduce(32 + keys.capacity * 2) { $0 + 32 + $1.memory } }

    /// The place of a key, or where it would be.
    private func place(_ key: UInt16) -> Int {
        // What is built comes in rising order.
        guard let last = keys.last, key <= last else { return keys.count }
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a number is in the set.
    package func contains(_ number: UInt32) -> Bool {
        let key = UInt16(number >> 16)
        let place = place(key)
        guard place < keys.count, keys[place] == key else { return false }
        return containers[place].contains(UInt16(truncatingIfNeeded: number))
    }

    /// Puts a number in.
    package mutating func insert(_ number: UInt32) {
        let key = UInt16(number >> 16)
        let place = place(key)
        if place == keys.count || keys[place] != key {
            keys.insert(key, at: place)
            containers.insert(.sparse([]), at: place)
        }
        containers[place].insert(UInt16(truncatingIfNeeded: number))
    }

    /// Takes a number out.
    package mutating func remove(_ number: UInt32) {
        let key = UInt16(number >> 16)
        let place = place(key)
        guard place < keys.count, keys[place] == key else { return }
        containers[place].remove(UInt16(truncatingIfNeeded: number))
        guard containers[place].count == 0 else { return }
        keys.remove(at: place)
        containers.remove(at: place)
    }

    /// The numbers, rising, from the first one that is at least `start`.
    ///
    /// - Parameter limit: How many at most.
    package func numbers(from start: UInt32 = 0, limit: Int = .max) -> [UInt32] {
        var result: [UInt32] = []
        let key = UInt16(start >> 16)
        for index in place(key)..<keys.count {
            let base = UInt32(keys[index]) << 16
            containers[index].forEach(from: keys[index] == key ? UInt16(truncatingIfNeeded: start) : 0) { low in
                result.append(base | UInt32(low))
                return result.count < limit
            }
            if result.count >= limit { break }
        }
        return result
    }

    /// The numbers of either set.
    package func union(_ other: Bitmap) -> Bitmap {
        var result = Bitmap()
        var (left, right) = (0, 0)
        while left < keys.count || right < other.keys.count {
            if right == other.keys.count || left < keys.count && keys[left] < other.keys[right] {
                result.append(keys[left], containers[left])
                left += 1
            } else if left == keys.count || other.keys[right] < keys[left] {
                result.append(other.keys[right], other.containers[right])
                right += 1
            } else {
                result.append(keys[left], containers[left].union(other.containers[right]))
                left += 1
                right += 1
            }
        }
        return result
    }

    /// The numbers of both sets.
    package func intersection(_ other: Bitmap) -> Bitmap {
        var result = Bitmap()
        var (left, right) = (0, 0)
        while left < keys.count, right < other.keys.count {
            if keys[left] < other.keys[right] {
                left += 1
            } else if other.keys[right] < keys[left] {
                right += 1
            } else {
                result.append(keys[left], containers[left].intersection(other.containers[right]))
                left += 1
                right += 1
            }
        }
        return result
    }

    /// The numbers of this set that are not in the other.
    package func subtracting(_ other: Bitmap) -> Bitmap {
        var result = Bitmap()
        var right = 0
        for left in keys.indices {
            while right < other.keys.count, other.keys[right] < keys[left] { right += 1 }
            if right < other.keys.count, other.keys[right] == keys[left] {
                result.append(keys[left], containers[left].subtracting(other.containers[right]))
            } else {
                result.append(keys[left], containers[left])
            }
        }
        return result
    }

    mutating func append(_ key: UInt16, _ container: Container) {
        guard container.count > 0 else { return }
        keys.append(key)
        containers.append(container)
    }

    package static func == (left: Bitmap, right: Bitmap) -> Bool {
        left.keys == right.keys && left.containers.map(\.normalized) == right.containers.map(\.normalized)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(keys)
        for container in containers { hasher.combine(container.normalized) }
    }
}
