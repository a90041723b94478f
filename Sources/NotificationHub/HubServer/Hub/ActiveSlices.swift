/// The slices of each hub's sends that are under way. A task that has removed an installation from all audiences waits
/// for them, since they may have read it before.
actor ActiveSlices {
    private var last: UInt64 = 0
    private var numbers: [Int64: Set<UInt64>] = [:]
    private var waiting: [(left: Set<UInt64>, continuation: CheckedContinuation<Void, Never>)] = []

    /// Runs a slice until its outcome is recorded.
    nonisolated func run<Result: Sendable>(
        of hub: Int64, _ slice: @Sendable () async throws -> Result
    ) async throws -> Result {
        let number = await begin(hub)
        do {
            let result = try await slice()
            await end(number, hub)
            return result
        } catch {
            await end(number, hub)
            throw error
        }
    }

    /// Waits for the end of the slices that are under way now.
    func waitUntilEnded(of hub: Int64) async {
        guard let left = numbers[hub], !left.isEmpty else { return }
        await withCheckedContinuation { waiting.append((left, $0)) }
    }

    private func begin(_ hub: Int64) -> UInt64 {
        last += 1
        numbers[hub, default: []].insert(last)
        return last
    }

    private func end(_ number: UInt64, _ hub: Int64) {
        numbers[hub]?.remove(number)
        if numbers[hub]?.isEmpty == true { numbers[hub] = nil }
        for place in waiting.indices { waiting[place].left.remove(number) }
        for done in waiting where done.left.isEmpty { done.continuation.resume() }
        waiting.removeAll { $0.left.isEmpty }
    }
}
