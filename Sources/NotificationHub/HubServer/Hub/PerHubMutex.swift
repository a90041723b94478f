/// Serializes work for each hub, in the order in which the calls came.
///
/// At most as many tasks that divide campaigns wait as a hub has slices under way (``SendScheduler/ofOneHub``). At most as
/// many tasks that read its audience wait as there are requests.
actor PerHubMutex {
    private var waiting: [Int64: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs a closure while no other closure of the same hub runs.
    nonisolated func pass(_ hub: Int64, _ body: @Sendable () async throws -> Void) async throws {
        await enter(hub)
        do { try await body() } catch {
            await leave(hub)
            throw error
        }
        await leave(hub)
    }

    private func enter(_ hub: Int64) async {
        guard waiting[hub] != nil else { return waiting[hub] = [] }
        await withCheckedContinuation { waiting[hub, default: []].append($0) }
    }

    private func leave(_ hub: Int64) {
        guard var queue = waiting[hub], !queue.isEmpty else { return waiting[hub] = nil }
        let next = queue.removeFirst()
        waiting[hub] = queue
        next.resume()
    }
}
