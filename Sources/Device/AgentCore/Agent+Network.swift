import Logging
import Machine

/// Pauses between attempts to reach the server, which end when the network comes back.
extension Agent {
    /// Milliseconds between two pauses that the network ends: links may come and go all the time.
    private static let returnInterval: Int64 = 1_000

    /// Waits as long as the back-off says, or until the network comes back: then the pauses begin anew.
    func pause(_ backOff: inout BackOff) async {
        let duration = parts.duration(&backOff)
        let rest = Task { [parts] in try? await parts.sleep(duration) }
        pauseCount += 1
        let number = pauseCount
        pauses[number] = rest
        await withTaskCancellationHandler {
            _ = await rest.value
        } onCancel: {
            rest.cancel()
        }
        if pauses.removeValue(forKey: number) == nil { backOff.reset() }
    }

    /// What waits to reach the server tries at once.
    func networkReturned() {
        let now = parts.clock.now().sinceBoot
        if let lastReturn, now - lastReturn < Self.returnInterval, now >= lastReturn { return }
        guard !pauses.isEmpty else { return }
        lastReturn = now
        logger.debug("The network came back: what waits for the server tries again.")
        for rest in pauses.values { rest.cancel() }
        pauses = [:]
    }
}
