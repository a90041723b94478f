import PushServer

/// The answer of the hubs' interfaces while their database cannot be used: 503, with the reason, in the form of each.
enum HubOutage {
    /// The sentence of the answer; `nil` for an error that tells of no damage.
    static func sentence(_ error: any Error) -> String? {
        guard let failure = error as? any StoreFailure, failure.isDamage else { return nil }
        return
            "the notification hubs are out of service: \(failure.reason); the operator finds the remedy at /health and in "
            + "the server's log"
    }

    /// The answer as the control API's own; `nil` for an error that tells of no damage.
    static func refusal(_ error: any Error) -> ControlError? {
        sentence(error).map { ControlError(status: .serviceUnavailable, code: "outOfService", message: $0) }
    }
}
