import Foundation
import RelayProtocol

/// The pairing that a terminal has begun here, of which there is one at a time. A value.
struct DevicePairing {
    private struct Progress {
        var client: ClientNumber
        var request: Int64
        var pairing: RelayPairing
        var device: String?
    }

    private var progress: Progress?

    /// Whether a pairing is in progress.
    var isInProgress: Bool { progress != nil }
    /// Whether the other device is still waited for.
    var isWaiting: Bool { progress?.device == nil }

    /// Whether a client has begun the pairing in progress.
    func isBegun(by client: ClientNumber) -> Bool { progress?.client == client }

    /// Whether a device is being paired.
    func isPairing(with device: String) -> Bool { progress?.device == device }

    /// Begins a pairing.
    ///
    /// - Parameters:
    ///   - word: The text by which both devices find each other; drawn here where it is `nil`.
    ///   - account: The account that is given; `nil` on the device that receives it.
    mutating func begin(
        _ word: String?, account: AccountKey?, for client: ClientNumber, request: Int64
    ) -> [RelayEffect] {
        let drawn = word ?? RelayPairing.newWord()
        let place = RelayPairing.place(of: drawn)
        progress = Progress(
            client: client, request: request, pairing: RelayPairing(place: place, account: account))
        var state: RelayMap = ["state": "waiting"]
        if word == nil { state["word"] = .string(drawn) }
        return [
            .directive(.tell(client, .told(request: request, state))), .directive(.send(.meet(place: place))),
        ]
    }

    /// The other device is there.
    mutating func peerJoined(_ device: String) -> [RelayEffect] {
        guard isWaiting, isInProgress else { return [] }
        progress?.device = device
        return perform(progress?.pairing.peerJoined() ?? [])
    }

    /// The other device says something.
    mutating func receive(_ message: [UInt8]) -> [RelayEffect] { perform(progress?.pairing.receive(message) ?? []) }

    /// The person has compared the digits.
    mutating func answer(areSame: Bool) -> [RelayEffect] {
        perform(progress?.pairing.answered(areSame: areSame) ?? [])
    }

    /// Ends the pairing in progress as failed.
    mutating func fail(_ why: String) -> [RelayEffect] {
        guard let current = progress else { return [] }
        progress = nil
        let outcome = RelayOutcome(.failed, detail: why)
        return [.directive(.tell(current.client, .answered(request: current.request, id: nil, outcome)))]
    }

    /// Ends the pairing in progress, since the terminal is gone.
    mutating func end() -> [RelayEffect] {
        defer { progress = nil }
        return answer(areSame: false)
    }

    private mutating func perform(_ steps: [RelayPairing.Step]) -> [RelayEffect] {
        var effects: [RelayEffect] = []
        for step in steps {
            guard let current = progress, let device = current.device else { break }
            func tell(_ state: String, _ more: RelayMap = [:]) {
                let told = more.merging(["state": .string(state)]) { $1 }
                effects.append(.directive(.tell(current.client, .told(request: current.request, told))))
            }
            switch step {
            case .say(let message):
                let body = [RelayPairing.mark] + message
                let route = RelayRoute(peer: device, id: UUID.random(), deadline: nil, body: body)
                effects.append(.directive(.send(.route(route))))
            case .compare(let digits): tell("compare", ["digits": .string(digits)])
            case .given:
                tell("paired")
                progress = nil
            case .join(let account):
                tell("paired")
                progress = nil
                effects.append(.join(account))
            case .failed(let why): effects += fail(why)
            }
        }
        return effects
    }
}
