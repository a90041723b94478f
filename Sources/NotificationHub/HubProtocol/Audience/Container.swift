extension Bitmap.Container {
    var count: Int {
        switch self {
        case .sparse(let list): list.count
        case .dense(_, let count): count
        }
    }

    var memory: Int {
        switch self {
        case .sparse(let list): 32 + list.capacity * 2
        case .dense: 32 + 8192
        }
    }

    /// The form that takes less space.
    var normalized: Self {
        switch self {
        case .sparse(let list) where list.count > Self.mostSparse: .dense(Self.words(list), list.count)
        case .dense(let words, let count) where count <= Self.mostSparse: .sparse(Self.list(words, count))
        default: self
        }
    }

    static func words(_ list: [UInt16]) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: 1024)
        for low in list { words[Int(low >> 6)] |= 1 << UInt64(low & 63) }
        return words
    }

    static func list(_ words: [UInt64], _ count: Int) -> [UInt16] {
        var list: [UInt16] = []
        list.reserveCapacity(count)
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                list.append(UInt16(index << 6 | rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return list
    }

    /// The place of a number in a sorted list, or where it would be.
    private static func place(_ low: UInt16, in list: [UInt16]) -> Int {
        guard let last = list.last, low <= last else { return list.count }
        var start = 0
        var end = list.count
        while start < end {
            let middle = (start + end) / 2
            if list[middle] < low { start = middle + 1 } else { end = middle }
        }
        return start
    }

    func contains(_ low: UInt16) -> Bool {
        switch self {
        case .sparse(let list):
            let place = Self.place(low, in: list)
            return place < list.count && list[place] == low
        case .dense(let words, _): return words[Int(low >> 6)] & 1 << UInt64(low & 63) != 0
        }
    }

    /// The container is emptied while it is changed, so that its list or words are not copied.
    mutating func insert(_ low: UInt16) {
        switch self {
        case .sparse(var list):
            let place = Self.place(low, in: list)
            if place < list.count, list[place] == low { return }
            self = .sparse([])
            list.insert(low, at: place)
            self = Self.sparse(list).normalized
        case .dense(var words, let count):
            let bit: UInt64 = 1 << UInt64(low & 63)
            guard words[Int(low >> 6)] & bit == 0 else { return }
            self = .sparse([])
            words[Int(low >> 6)] |= bit
            self = .dense(words, count + 1)
        }
    }

    mutating func remove(_ low: UInt16) {
        switch self {
        case .sparse(var list):
            let place = Self.place(low, in: list)
            guard place < list.count, list[place] == low else { return }
            self = .sparse([])
            list.remove(at: place)
            self = .sparse(list)
        case .dense(var words, let count):
            let bit: UInt64 = 1 << UInt64(low & 63)
            guard words[Int(low >> 6)] & bit != 0 else { return }
            self = .sparse([])
            words[Int(low >> 6)] &= ~bit
            // Half of the limit, so that one that goes to and fro is not converted each time.
            self = .dense(words, count - 1)
            if count - 1 <= Self.mostSparse / 2 { self = normalized }
        }
    }

    /// Calls the body for each number, in rising order, until it returns `false`.
    func forEach(from start: UInt16, _ body: (UInt16) -> Bool) {
        switch self {
        case .sparse(let list):
            for low in list[Self.place(start, in: list)...] where !body(low) { return }
        case .dense(let words, _):
            for index in Int(start >> 6)..<1024 {
                var rest = words[index]
                if index == Int(start >> 6) { rest &= ~0 << UInt64(start & 63) }
                while rest != 0 {
                    guard body(UInt16(index << 6 | rest.trailingZeroBitCount)) else { return }
                    rest &= rest - 1
                }
            }
        }
    }

    func union(_ other: Self) -> Self {
        switch (self, other) {
        case (.sparse(let left), .sparse(let right)):
            return Self.sparse(Self.merged(left, right)).normalized
        case (.dense(let left, _), .dense(let right, _)): return Self.combined(left, right: right) { $0 | $1 }
        case (.dense(var words, var count), .sparse(let list)), (.sparse(let list), .dense(var words, var count)):
            for low in list {
                let bit: UInt64 = 1 << UInt64(low & 63)
                if words[Int(low >> 6)] & bit == 0 { count += 1 }
                words[Int(low >> 6)] |= bit
            }
            return .dense(words, count)
        }
    }

    private static func merged(_ left: [UInt16], _ right: [UInt16]) -> [UInt16] {
        var result: [UInt16] = []
        result.reserveCapacity(left.count + right.count)
        var (first, second) = (0, 0)
        while first < left.count, second < right.count {
            let (one, other) = (left[first], right[second])
            result.append(min(one, other))
            if one <= other { first += 1 }
            if other <= one { second += 1 }
        }
        result += left[first...]
        result += right[second...]
        return result
    }

    func intersection(_ other: Self) -> Self {
        switch (self, other) {
        case (.dense(let left, _), .dense(let right, _)): return Self.combined(left, right: right) { $0 & $1 }
        case (.sparse(let left), .sparse(let right)):
            var result: [UInt16] = []
            var (first, second) = (0, 0)
            while first < left.count, second < right.count {
                let (one, other) = (left[first], right[second])
                if one == other { result.append(one) }
                if one <= other { first += 1 }
                if other <= one { second += 1 }
            }
            return .sparse(result)
        case (.sparse(let list), .dense(let words, _)), (.dense(let words, _), .sparse(let list)):
            return .sparse(list.filter { words[Int($0 >> 6)] & 1 << UInt64($0 & 63) != 0 })
        }
    }

    func subtracting(_ other: Self) -> Self {
        switch (self, other) {
        case (.dense(let left, _), .dense(let right, _)): return Self.combined(left, right: right) { $0 & ~$1 }
        case (.sparse(let list), _): return .sparse(list.filter { !other.contains($0) })
        case (.dense(var words, var count), .sparse(let list)):
            for low in list {
                let bit: UInt64 = 1 << UInt64(low & 63)
                if words[Int(low >> 6)] & bit != 0 { count -= 1 }
                words[Int(low >> 6)] &= ~bit
            }
            return Self.dense(words, count).normalized
        }
    }

    private static func combined(
        _ left: [UInt64], right: [UInt64], operation: (UInt64, UInt64) -> UInt64
    ) -> Self {
        var count = 0
        let words = [UInt64](unsafeUninitializedCapacity: 1024) { buffer, filled in
            left.withUnsafeBufferPointer { left in
                right.withUnsafeBufferPointer { right in
                    for index in 0..<1024 {
                        let word = operation(left[index], right[index])
                        buffer[index] = word
                        count += word.nonzeroBitCount
                    }
                }
            }
            filled = 1024
        }
        return Self.dense(words, count).normalized
    }
}
