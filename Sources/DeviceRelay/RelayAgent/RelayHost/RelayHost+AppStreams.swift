import Foundation
import RelayProtocol

/// Streams between apps: the agents pass pieces on, and ensure that no more is in transit than was requested.
extension RelayHost {
    /// The state of a stream at one of its ends.
    struct AppStream {
        var client: ClientNumber
        var device: String
        var size: Int64
        /// The task of the end that takes it; `nil` at the end that gives it.
        var task: Int64?
        /// How many bytes were asked for and not given yet.
        var asked: Int64 = 0
        var digest = PassingDigest()
        var pulls = StreamPulls()
        /// The time of the last message about the stream.
        var heardAt: Int64

        /// The time at which it ends unless a message about it arrives before.
        var silentUntil: Int64 { heardAt + (asked > 0 ? RelayHost.giverTimeout : RelayHost.takerTimeout) }
    }

    /// The most bytes in transit to this device, of all streams of apps together.
    static var streamsWindow: Int64 { 16 << 20 }
    /// How long nothing may come of what was asked for: a minute, in milliseconds.
    static var giverTimeout: Int64 { 60_000 }
    /// How long an app that takes a stream may say nothing about it: ten minutes, in milliseconds.
    static var takerTimeout: Int64 { 600_000 }

    // MARK: What apps say

    /// Begins a stream, once its command is in progress.
    mutating func give(_ offer: RelayOffer, id: UUID, to device: String, by client: ClientNumber, at now: Int64) {
        streams.appStreams[id] = AppStream(client: client, device: device, size: offer.size, heardAt: now)
    }

    /// Handles a step of an app in one of its streams.
    mutating func take(_ step: RelayStreamStep, id: UUID, by client: ClientNumber, at now: Int64) {
        guard let stream = streams.appStreams[id], stream.client == client else { return }
        switch (step, stream.task) {
        case (.pull(let offset, let length, let prefix), .some):
            guard mayPull(stream, offset: offset, length: length) else {
                return endTaking(
                    id, outcome: RelayOutcome(.failed, detail: "more was asked for than may be under way"), at: now)
            }
            guard streams.appStreams[id]?.pulls.ask(offset, length, prefix: prefix) ?? false else {
                return endTaking(
                    id, outcome: RelayOutcome(.failed, detail: "what was asked for does not follow what was before"),
                    at: now)
            }
            streams.appStreams[id]?.asked += length
            streams.appStreams[id]?.heardAt = now
            pullOn(id, now)
        case (.taken(let outcome), .some):
            endTaking(id, outcome: RelayOutcome(outcome.status, detail: outcome.detail), at: now)
        case (.piece(let offset, let bytes), nil):
            guard !bytes.isEmpty, Int64(bytes.count) <= stream.asked else {
                return end(
                    id, RelayOutcome(.failed, detail: "a piece of the stream was given that nobody asked for"), now)
            }
            streams.appStreams[id]?.passed(bytes, at: offset)
            send(.piece(stream: id, offset: offset, bytes), to: stream.device, deadline: nil, isBulk: true)
        case (.allGiven(let digest), nil):
            guard let whole = digest.isEmpty ? stream.digest.whole(of: stream.size) : digest else {
                return end(id, RelayOutcome(.failed, detail: "the digest of what did not begin at 0 was not said"), now)
            }
            send(.piecesEnded(stream: id, digest: whole), to: stream.device, deadline: nil, isBulk: true)
        default: break
        }
    }

    private func mayPull(_ stream: AppStream, offset: Int64, length: Int64) -> Bool {
        offset >= 0 && offset <= stream.size && length >= 0 && length <= RelayStreamStep.window
            && stream.asked + length <= RelayStreamStep.window
    }

    /// Requests from the other device as much as may be in transit.
    private mutating func pullOn(_ id: UUID, _ now: Int64) {
        let isTalking = isTalking(now)
        let share = Self.streamsWindow / Int64(max(1, streams.appStreams.values.count { $0.task != nil }))
        while let stream = streams.appStreams[id],
            let portion = streams.appStreams[id]?.pulls.next(isTalking: isTalking, share: share, at: now)
        {
            let pull = RelayContent.pull(
                stream: id, offset: portion.offset, length: portion.length, prefix: portion.prefix)
            send(pull, to: stream.device, deadline: nil)
        }
    }

    /// The end that takes a stream is through with it.
    private mutating func endTaking(_ id: UUID, outcome: RelayOutcome, at now: Int64) {
        guard let task = streams.appStreams.removeValue(forKey: id)?.task else { return }
        settle(task, outcome: outcome, at: now)
    }

    /// Ends streams of which nothing comes any more, and those that their app takes no further.
    mutating func endSilentStreams(_ now: Int64) {
        for (id, stream) in streams.appStreams where stream.task != nil && stream.silentUntil <= now {
            directives.append(.tell(stream.client, .stream(id, .lost)))
            let who = stream.asked > 0 ? "the pieces stopped coming" : "the app there took no more of it"
            endTaking(id, outcome: RelayOutcome(.failed, detail: "\(who); send it again to go on"), at: now)
        }
    }

    var nextStreamMoment: Int64? { streams.appStreams.values.lazy.filter { $0.task != nil }.map(\.silentUntil).min() }

    // MARK: What other devices say

    /// A device offers a stream to an app here.
    mutating func take(_ offer: RelayOffer, app: String, service: String, route: RelayRoute, at now: Int64) {
        if let refusal = refusal(of: service, app, to: route.peer) {
            return park(.offer(offer), app: app, service: service, route: route, refusal: refusal, at: now)
        }
        guard streams.appStreams.count < Self.streamLimit, streams.appStreams[route.id] == nil,
            let offered = provider(of: service, app: app)
        else {
            return reply(
                route.id, device: route.peer, outcome: RelayOutcome(.resourceLimits, detail: "other streams are coming")
            )
        }
        let number = add(route, offered.client, now)
        streams.appStreams[route.id] = AppStream(
            client: offered.client, device: route.peer, size: offer.size, task: number, heardAt: now)
        directives.append(.tell(offered.client, .offered(stream: route.id, device: route.peer, offer)))
    }

    /// - Returns: Whether the stream is an app's.
    mutating func receive(_ step: RelayStreamStep, of id: UUID, from device: String, _ now: Int64) -> Bool {
        guard let stream = streams.appStreams[id] else { return false }
        guard stream.device == device else { return true }
        var step = step
        switch (step, stream.task) {
        case (.pull(let offset, let length, _), nil):
            guard mayPull(stream, offset: offset, length: length) else { return true }
            streams.appStreams[id]?.asked += length
            ledger.executing(id, on: device)
        case (.piece(let offset, let bytes), .some):
            guard !bytes.isEmpty, Int64(bytes.count) <= stream.asked, offset >= 0,
                offset <= stream.size - Int64(bytes.count)
            else { return true }
            streams.appStreams[id]?.passed(bytes, at: offset)
            streams.appStreams[id]?.heardAt = now
            streams.appStreams[id]?.pulls.arrived(bytes.count, at: offset, now: now)
            pullOn(id, now)
        case (.allGiven(let digest), .some):
            streams.appStreams[id]?.heardAt = now
            // Where not all has passed since the app had something before, the app compares.
            let whole = stream.digest.whole(of: stream.size)
            if whole != digest, whole != nil || !stream.pulls.hadBeginning { step = .allGiven(digest: []) }
        default: return true
        }
        directives.append(.tell(stream.client, .stream(id, step)))
        return true
    }

    /// Notifies the receiving ends here that their streams with a device, or with any, are lost. A sending end is
    /// answered by its command.
    mutating func appStreamsLost(with device: String? = nil) {
        for (id, stream) in streams.appStreams where stream.task != nil && (device == nil || stream.device == device) {
            appStreamEnded(id, isLost: true)
        }
    }

    /// Forgets a stream.
    mutating func appStreamEnded(_ id: UUID, isLost: Bool = false) {
        guard let stream = streams.appStreams.removeValue(forKey: id) else { return }
        if isLost { directives.append(.tell(stream.client, .stream(id, .lost))) }
    }
}

extension RelayHost.AppStream {
    fileprivate mutating func passed(_ bytes: [UInt8], at offset: Int64) {
        asked -= Int64(bytes.count)
        digest.passed(bytes, at: offset)
    }
}
