import HTTPTypes
import Hummingbird
import Metrics
import PushCore
import Synchronization

/// A bounded number of streams that may be open at once, of which one team takes at most half.
package final class StreamSlots: Sendable {
    /// The highest number of open streams.
    package let limit: Int
    /// The highest number of open streams of one team, so that others find some free.
    package let share: Int
    private let gauge: Gauge
    private let open = Mutex(Open())

    private struct Open {
        var count = 0
        var byTeam: [TeamID: Int] = [:]
    }

    /// Why there is no slot for another stream.
    package enum Refusal: Error, Hashable, Sendable {
        /// All slots are taken.
        case full
        /// The team has as many as one team may.
        case teamFull
    }

    /// Slots that are all free.
    ///
    /// - Parameter label: The name of the metric for the number of streams.
    package init(limit: Int, label: String) {
        self.limit = limit
        share = max(1, limit / 2)
        gauge = Gauge(label: label)
    }

    /// Takes a slot for one stream.
    ///
    /// - Parameter team: The team that it counts for; `nil` for a caller who may act for every team, whose streams count for none.
    package func take(for team: TeamID?) throws(Refusal) -> StreamSlot {
        let result: Result<Int, Refusal> = open.withLock { open in
            guard open.count < limit else { return .failure(.full) }
            if let team {
                guard open.byTeam[team, default: 0] < share else { return .failure(.teamFull) }
                open.byTeam[team, default: 0] += 1
            }
            open.count += 1
            return .success(open.count)
        }
        gauge.record(try result.get())
        return StreamSlot(slots: self, team: team)
    }

    /// Takes a slot for one stream of a team, or refuses the request for it.
    ///
    /// - Throws: 429 with the limit and what would help.
    package func slot(for team: TeamID?) throws(ControlError) -> StreamSlot {
        do { return try take(for: team) } catch {
            let message =
                switch error {
                case .full: "\(limit) streams are open already; try again later"
                case .teamFull: "the team has \(share) streams open already; close one, or try again later"
                }
            throw ControlError(status: .tooManyRequests, code: "tooManyStreams", message: message)
        }
    }

    fileprivate func free(_ team: TeamID?) {
        let count = open.withLock { open in
            open.count -= 1
            if let team, let count = open.byTeam[team] { open.byTeam[team] = count > 1 ? count - 1 : nil }
            return open.count
        }
        gauge.record(count)
    }
}

/// The slot of one stream. It is free again when it was released, or when nobody holds it any more.
package final class StreamSlot: Sendable {
    private let slots: StreamSlots
    private let team: TeamID?
    private let isHeld = Mutex(true)

    fileprivate init(slots: StreamSlots, team: TeamID?) {
        self.slots = slots
        self.team = team
    }

    deinit { release() }

    /// Releases the slot; a second call does nothing.
    package func release() {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { slots.free(team) }
    }
}

extension Response {
    /// A response of server-sent events, which holds a slot until it ends.
    ///
    /// - Parameter write: Writes events until the reader disconnects, or the server stops.
    static func events(
        in slot: StreamSlot, write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .xAccelBuffering: "no",
            ],
            body: ResponseBody { writer in
                defer { slot.release() }
                try await write(&writer)
                try await writer.finish(nil)
            })
    }
}

extension HTTPField.Name {
    /// A field that makes buffering proxies forward the response at once.
    fileprivate static var xAccelBuffering: HTTPField.Name { HTTPField.Name("X-Accel-Buffering") ?? .cacheControl }
}
