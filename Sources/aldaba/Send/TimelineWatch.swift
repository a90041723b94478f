import AldabaConfiguration
import AsyncHTTPClient
import Foundation
import PushCore

/// Reads the timelines of notifications until they have come some distance.
struct TimelineWatch: Sendable {
    /// The latest state of a notification, as its timeline writes it.
    struct Result: Sendable {
        var state: String
        var note: String?
        var progress: AwaitedState.Progress
    }

    let awaited: AwaitedState
    let server: ServerOption
    let signing: SigningOptions
    let client: HTTPClient

    /// The time between two looks, which doubles up to the longest.
    private static let (shortest, longest) = (Duration.milliseconds(20), Duration.milliseconds(500))

    /// Waits until a notification has come that far, has ended before, or the time is over.
    ///
    /// - Throws: ``CommandError`` for a server that does not show the timeline.
    func result(of apnsID: String, until deadline: ContinuousClock.Instant) async throws -> Result {
        let clock = ContinuousClock()
        var pause = Self.shortest
        while true {
            let result = try await loadResult(of: apnsID)
            if result.progress != .pending || clock.now >= deadline { return result }
            try await clock.sleep(until: min(deadline, clock.now + pause))
            pause = min(pause * 2, Self.longest)
        }
    }

    /// The state of the newest notification with an id.
    func loadResult(of apnsID: String) async throws -> Result {
        let request = NotificationsRequest(id: apnsID, server: server, signing: signing)
        let body = try await request.answer(to: .timelines, by: client)
        guard let found = try? JSONDecoder().decode([Found].self, from: body), let entries = found.last?.timeline else {
            throw CommandError(.failed, "the server's answer cannot be read")
        }
        let progress = awaited.progress(entries.compactMap { NotificationState(text: $0.state) })
        var decisive = entries.last
        if case .ended(let state) = progress { decisive = entries.last { $0.state == state.text } }
        return Result(
            state: decisive?.state ?? NotificationState.accepted.text, note: decisive?.note, progress: progress)
    }

    private struct Found: Decodable {
        struct Entry: Decodable {
            var state: String
            var note: String?
        }
        var timeline: [Entry]
    }
}

extension AwaitedState {
    /// Ends a command whose notification did not come that far.
    ///
    /// - Throws: ``CommandError`` with the state in which it is.
    func check(_ result: TimelineWatch.Result, within time: Duration) throws {
        let note = result.note.map { ": \($0)" } ?? ""
        switch result.progress {
        case .reached: return
        case .ended(let state):
            throw CommandError(.failed, "the notification is not \(rawValue), it has ended as \(state.text)\(note)")
        case .pending:
            throw CommandError(
                .timedOut,
                "the notification is not \(rawValue) after \(time.components.seconds) s; its latest state is "
                    + "\(result.state)\(note)")
        }
    }
}
