/// Runs a request for each of many items concurrently, a bounded number at a time.
///
/// - Returns: A verdict for each item, in their order.
func concurrently<Item: Sendable>(
    _ items: [Item], atMost width: Int = 100, _ work: @escaping @Sendable (Item) async -> PushVerdict
) async -> [PushVerdict] {
    await withTaskGroup(of: (Int, PushVerdict).self) { group in
        var verdicts = [PushVerdict](repeating: PushVerdict(.unknownError), count: items.count)
        var next = 0
        func begin() {
            guard next < items.count else { return }
            let (index, item) = (next, items[next])
            next += 1
            group.addTask { (index, await work(item)) }
        }
        for _ in 0..<min(width, items.count) { begin() }
        while let (index, verdict) = await group.next() {
            verdicts[index] = verdict
            begin()
        }
        return verdicts
    }
}
