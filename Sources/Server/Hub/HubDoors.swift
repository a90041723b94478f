/// Lets one at a time through for each hub, in the order in which they came.
///
/// Of those who divide campaigns as many wait as a hub has slices under way (``SendTurns/ofOneHub``), of those who read its
/// audience as many as there are requests.
actor HubDoors {
    private var waiting: [Int64: [CheckedContinuation<Void, Never>]] = [:]

    /// Does something while nobody else of the hub does.
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
