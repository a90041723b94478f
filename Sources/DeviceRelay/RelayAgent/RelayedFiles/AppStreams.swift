import CoreValues
import Foundation
import RelayProtocol

/// Streams between apps: the agents pass pieces on, and ensure that no more is in transit than was requested. A value.
struct AppStreams {
    /// The state of a stream at one of its ends.
    struct Stream {
        var client: ClientNumber
        var device: String
        var size: Int64
        /// The task of the receiving end; `nil` at the sending end.
        var task: Int64?
        /// How many bytes were asked for and not given yet.
        var asked: Int64 = 0
        var digest = PassingDigest()
        var pulls = StreamPulls()
        /// The time of the last message about the stream.
        var lastMessageAt: Timestamp

        /// The time at which it ends unless a message about it arrives before.
        var silentUntil: Timestamp { lastMessageAt + (asked > 0 ? AppStreams.giverTimeout : AppStreams.takerTimeout) }

        fileprivate func mayPull(offset: Int64, length: Int64) -> Bool {
            offset >= 0 && offset <= size && length >= 0 && length <= RelayStreamStep.window
                && asked + length <= RelayStreamStep.window
        }

        /// The digest of the whole stream; `nil` where not all of it has passed.
        fileprivate var whole: [UInt8]? { digest.whole(of: size) }

        fileprivate mutating func passed(_ bytes: [UInt8], at offset: Int64) {
            asked -= Int64(bytes.count)
            digest.passed(bytes, at: offset)
        }
    }

    private var streams: [UUID: Stream] = [:]

    /// The most bytes in transit to this device, of all streams of apps together.
    static var window: Int64 { 16 << 20 }
    /// How long nothing may come of what was asked for: a minute.
    static var giverTimeout: Duration { .seconds(60) }
    /// How long an app that takes a stream may say nothing about it: ten minutes.
    static var takerTimeout: Duration { .seconds(600) }

    /// Whether no stream is in progress.
    var isEmpty: Bool { streams.isEmpty }
    /// Whether another stream may begin now.
    var hasCapacity: Bool { streams.count < IncomingFiles.limit }
    /// The devices at the other ends.
    var devices: [String] { streams.values.map(\.device) }

    /// The stream of an id; `nil` for none.
    subscript(id: UUID) -> Stream? { streams[id] }

    /// Adds a stream.
    ///
    /// - Parameter task: The task of the receiving end; `nil` at the sending end.
    mutating func add(
        _ id: UUID, of client: ClientNumber, with device: String, size: Int64, task: Int64? = nil, at now: Timestamp
    ) {
        streams[id] = Stream(client: client, device: device, size: size, task: task, lastMessageAt: now)
    }

    /// The command of a stream is sent.
    mutating func commandSent(_ id: UUID, at now: Timestamp) { streams[id]?.lastMessageAt = now }

    // MARK: What apps say

    /// Handles a step of an app in one of its streams.
    mutating func take(
        _ step: RelayStreamStep, of id: UUID, by client: ClientNumber, isTalking: Bool, at now: Timestamp
    ) -> [RelayEffect] {
        // The stream is changed in place: of a copy the digest's state would be copied with every piece.
        guard let index = streams.index(forKey: id), streams.values[index].client == client else { return [] }
        let (device, task) = (streams.values[index].device, streams.values[index].task)
        switch (step, task) {
        case (.pull(let offset, let length, let prefix), .some):
            guard streams.values[index].mayPull(offset: offset, length: length) else {
                return settle(id, RelayOutcome(.failed, detail: "more was asked for than may be under way"))
            }
            guard streams.values[index].pulls.ask(offset, length, prefix: prefix) else {
                return settle(id, RelayOutcome(.failed, detail: "what was asked for does not follow what was before"))
            }
            streams.values[index].asked += length
            streams.values[index].lastMessageAt = now
            return pull(id, isTalking: isTalking, at: now)
        case (.taken(let outcome), .some): return settle(id, RelayOutcome(outcome.status, detail: outcome.detail))
        case (.piece(let offset, let bytes), nil):
            guard !bytes.isEmpty, Int64(bytes.count) <= streams.values[index].asked else {
                let detail = "a piece of the stream was given that nobody asked for"
                return [.end(id, RelayOutcome(.failed, detail: detail))]
            }
            streams.values[index].passed(bytes, at: offset)
            return [.send(.piece(stream: id, offset: offset, bytes), to: device, isBulk: true)]
        case (.allGiven(let digest), nil):
            guard let whole = digest.isEmpty ? streams.values[index].whole : digest else {
                let detail = "the digest of what did not begin at 0 was not said"
                return [.end(id, RelayOutcome(.failed, detail: detail))]
            }
            return [.send(.piecesEnded(stream: id, digest: whole), to: device, isBulk: true)]
        default: return []
        }
    }

    /// Requests from the other device as much as may be in transit.
    private mutating func pull(_ id: UUID, isTalking: Bool, at now: Timestamp) -> [RelayEffect] {
        guard let index = streams.index(forKey: id) else { return [] }
        var effects: [RelayEffect] = []
        let share = Self.window / Int64(max(1, streams.values.count { $0.task != nil }))
        while let portion = streams.values[index].pulls.next(isTalking: isTalking, share: share, at: now) {
            let pull = RelayContent.pull(
                stream: id, offset: portion.offset, length: portion.length, prefix: portion.prefix)
            effects.append(.send(pull, to: streams.values[index].device))
        }
        return effects
    }

    /// The receiving end is through with a stream.
    private mutating func settle(_ id: UUID, _ outcome: RelayOutcome) -> [RelayEffect] {
        guard let task = streams.removeValue(forKey: id)?.task else { return [] }
        return [.settle(task, outcome)]
    }

    // MARK: What other devices say

    /// Handles a step of another device.
    ///
    /// - Returns: The effects; `nil` where the stream is not an app's.
    mutating func receive(
        _ step: RelayStreamStep, of id: UUID, from device: String, isTalking: Bool, at now: Timestamp
    ) -> [RelayEffect]? {
        guard let index = streams.index(forKey: id) else { return nil }
        guard streams.values[index].device == device else { return [] }
        let (client, task) = (streams.values[index].client, streams.values[index].task)
        var step = step
        var effects: [RelayEffect] = []
        switch (step, task) {
        case (.pull(let offset, let length, _), nil):
            guard streams.values[index].mayPull(offset: offset, length: length) else { return [] }
            streams.values[index].asked += length
            effects.append(.executing(id, on: device))
        case (.piece(let offset, let bytes), .some):
            guard !bytes.isEmpty, Int64(bytes.count) <= streams.values[index].asked, offset >= 0,
                offset <= streams.values[index].size - Int64(bytes.count)
            else { return [] }
            streams.values[index].passed(bytes, at: offset)
            streams.values[index].lastMessageAt = now
            streams.values[index].pulls.arrived(bytes.count, at: offset, now: now)
            effects += pull(id, isTalking: isTalking, at: now)
        case (.allGiven(let digest), .some):
            streams.values[index].lastMessageAt = now
            // Where not all has passed since the app had something before, the app compares.
            let whole = streams.values[index].whole
            if whole != digest, whole != nil || !streams.values[index].pulls.hadBeginning {
                step = .allGiven(digest: [])
            }
        default: return []
        }
        effects.append(.directive(.tell(client, .stream(id, step))))
        return effects
    }

    // MARK: The end

    /// Discards a stream.
    ///
    /// - Parameter isLost: Whether its app is notified that it is lost.
    mutating func discard(_ id: UUID, isLost: Bool = false) -> [RelayHost.Directive] {
        guard let stream = streams.removeValue(forKey: id), isLost else { return [] }
        return [.tell(stream.client, .stream(id, .lost))]
    }

    /// Notifies the receiving ends here that their streams with a device are lost. A sending end is answered by its
    /// command.
    mutating func discard(with device: String) -> [RelayHost.Directive] {
        var directives: [RelayHost.Directive] = []
        for (id, stream) in streams where stream.task != nil && stream.device == device {
            directives += discard(id, isLost: true)
        }
        return directives
    }

    /// Discards the streams of a client that is gone.
    mutating func discard(of client: ClientNumber) { streams = streams.filter { $1.client != client } }

    /// Ends streams of which nothing comes any more, and those that their app takes no further.
    mutating func due(at now: Timestamp) -> [RelayEffect] {
        var effects: [RelayEffect] = []
        for (id, stream) in streams where stream.task != nil && stream.silentUntil <= now {
            effects.append(.directive(.tell(stream.client, .stream(id, .lost))))
            let why = stream.asked > 0 ? "the pieces stopped coming" : "the app there took no more of it"
            effects += settle(id, RelayOutcome(.failed, detail: "\(why); send it again to go on"))
        }
        return effects
    }

    /// When ``due(at:)`` has something to do next; `nil` for never.
    var nextMoment: Timestamp? { streams.values.lazy.filter { $0.task != nil }.map(\.silentUntil).min() }
}
