/// Numbers of requests in order of arrival. A request that ended while it waited stays until it is found or the queue
/// is rebuilt.
struct RequestQueue: Sendable {
    private var numbers: [Int] = []
    private var start = 0

    /// Adds a request at the end.
    mutating func append(_ number: Int, isLive: (Int) -> Bool) {
        if numbers.count == numbers.capacity, numbers.count >= 64 {
            numbers = numbers[start...].filter(isLive)
            start = 0
        }
        numbers.append(number)
    }

    /// Adds a request before all later ones.
    mutating func insert(_ number: Int) {
        let place = numbers[start...].partitioningIndex { $0 > number }
        numbers.insert(number, at: place)
    }

    /// The first request that still waits.
    mutating func first(isLive: (Int) -> Bool) -> Int? {
        while start < numbers.count {
            if isLive(numbers[start]) { return numbers[start] }
            start += 1
        }
        numbers.removeAll(keepingCapacity: true)
        start = 0
        return nil
    }

    /// Removes the request that ``first(isLive:)`` has returned.
    mutating func removeFirst() { start += 1 }
}

extension ArraySlice {
    /// The index of the first element that meets a condition, which all later ones meet too.
    fileprivate func partitioningIndex(_ isLater: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isLater(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
