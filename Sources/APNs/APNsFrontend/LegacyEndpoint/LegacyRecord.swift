import APNsProtocol
import PushCore
import PushServer

/// Remembers a burst of pushes for tests.
struct LegacyRecord: Sendable {
    private let controls: TestControls
    private let numbers: [Int]
    private let begun = ContinuousClock.now

    init(_ controls: TestControls, pushes: [LegacyPush], at now: Timestamp) {
        self.controls = controls
        numbers = pushes.map { push in
            var parties = ReceivedRequest.Parties()
            parties.token = Hexadecimal.text(push.token)
            return controls.received.append(
                ReceivedRequest(
                    at: now,
                    content: ReceivedRequest.Content(
                        interface: .binary, connection: 0, method: "", path: "", fields: [], body: push.payload),
                    parties: parties))
        }
    }

    /// Notes the notifications that were made of pushes, whose tickets are their places in the burst.
    func accepted(_ acceptances: [AcceptedNotification], results: [AcceptanceResult]) {
        let byTicket = Dictionary(acceptances.map { ($0.ticket, $0) }) { $1 }
        for result in results where numbers.indices.contains(Int(result.ticket)) {
            guard let acceptance = byTicket[result.ticket], let id = result.id else { continue }
            let number = numbers[Int(result.ticket)]
            controls.received.update(number) { request in
                request.parties.team = acceptance.app.team.rawValue
                request.parties.namespace = acceptance.app.team.rawValue
                request.parties.app = acceptance.app.topic.rawValue
            }
            controls.received.add(acceptance.received(as: id), to: number)
        }
    }

    /// Notes the end of the burst: the pushes before a place were taken, and that one has the error.
    func end(taken: Int, error: LegacyError?) {
        for (place, number) in numbers.enumerated() {
            guard place < taken || error != nil && place == taken else { continue }
            let status = place < taken ? 0 : Int(error?.status.rawValue ?? 0)
            controls.received.answered(
                number,
                ReceivedRequest.Answer(
                    status: status, reason: place < taken ? nil : error?.note, fields: [],
                    body: place < taken ? [] : error?.packet ?? [], duration: begun.duration(to: .now)))
        }
    }
}
