import Crypto
import Foundation
import RelayProtocol

/// Files that are sent to other devices or received from them. The receiver requests the pieces, so that no more is in
/// transit than the network can hold. A file continues at its position after any interruption.
extension RelayHost {
    /// A file that goes to another device.
    struct Outgoing {
        /// The client that is notified of the progress; `nil` where the other device asked for the file.
        var client: ClientNumber?
        var request: Int64
        var device: String
        var path: String
        var offer: RelayOffer
        /// How many bytes were asked for and not read yet.
        var reading: Int64 = 0
        /// The progress last reported to the client, in bytes.
        var told: Int64 = 0
        /// Whether the connectivity to the device was lost: the file is offered again when it is back.
        var isAway = false
    }

    /// A file that comes from another device.
    struct Incoming {
        var device: String
        var offer: RelayOffer
        var isReady = false
        var hasAsked = false
        /// The digest of what had come earlier, until a piece has come after it; and how much that was.
        var prefix: [UInt8] = []
        var start: Int64 = 0
        /// All up to here has been asked for, has come, and is written.
        var requested: Int64 = 0
        var arrived: Int64 = 0
        var written: Int64 = 0
        var digest: [UInt8]?
        var window = PieceWindow()
        /// When something came last.
        var heardAt: Int64
        var tries = 0
    }

    /// How many files come, and go, at a time.
    static var streamLimit: Int { 16 }
    /// The most bytes in transit to this device, of all files together.
    static var window: Int64 { PieceWindow.range.upperBound }
    /// After how many milliseconds without a piece they are asked for again, and how often.
    static var pieceSilence: Int64 { 10_000 }
    static var pieceTries: Int { 3 }
    /// The time after another message during which little of a file is in transit, in milliseconds, since more messages
    /// may follow.
    static var talkPause: Int64 { 50 }
    /// The longest time that the transfer of a file may take, in milliseconds.
    static var fileTimeout: Int64 { 86_400_000 }
    /// The service that takes files.
    package static var filesService: String { "files" }

    // MARK: Out

    /// Offers a file again whose transfer was interrupted by a loss of connectivity.
    mutating func offerAgain(to device: String? = nil) {
        for (id, file) in streams.outgoing
        where file.isAway && (device == nil || file.device == device) && !ledger.isWaiting(id) {
            guard known(file.device)?.presence == .online else { continue }
            streams.outgoing[id]?.isAway = false
            streams.outgoing[id]?.reading = 0
            offer(id, file)
        }
    }

    mutating func offer(_ id: UUID, _ file: Outgoing) {
        guard let body = try? RelayContent.offer(file.offer).encoded() else { return }
        directives.append(
            .send(.route(RelayRoute(peer: file.device, id: id, deadline: ledger[id]?.deadline, body: body))))
        ledger.sent(id)
    }

    /// Sends a file that another device has asked for.
    mutating func give(_ path: String, _ offer: RelayOffer, to device: String) -> Bool {
        guard streams.outgoing.count < Self.streamLimit else { return false }
        let id = UUID.random()
        let file = Outgoing(client: nil, request: 0, device: device, path: path, offer: offer)
        streams.outgoing[id] = file
        self.offer(id, file)
        return true
    }

    mutating func pulled(
        _ id: UUID, offset: Int64, length: Int64, prefix: [UInt8], device: String
    ) {
        guard let file = streams.outgoing[id], file.device == device, offset >= 0, length >= 0, length <= Self.window,
            offset <= file.offer.size, file.reading + length <= 2 * Self.window
        else { return }
        streams.outgoing[id]?.reading += length
        ledger.executing(id, on: device)
        directives.append(
            .file(
                stream: id,
                .read(path: file.path, file.offer, offset: offset, length: length, prefix: prefix)))
    }

    /// A file's command has ended, or no client waits for it any more.
    mutating func outgoingEnded(_ id: UUID) {
        if streams.outgoing.removeValue(forKey: id) != nil { directives.append(.file(stream: id, .leave)) }
    }

    // MARK: In

    /// A device offers a file; the same again where it had been interrupted.
    mutating func take(_ offer: RelayOffer, _ route: RelayRoute, _ now: Int64) {
        if streams.incoming[route.id]?.device == route.peer { return askAgain(route.id, now) }
        switch work.answered.arrive(route.id, from: route.peer, at: now) {
        case .new, .underWay: break
        case .answered(let body?):
            return directives.append(
                .send(.route(RelayRoute(peer: route.peer, id: UUID.random(), deadline: nil, body: body))))
        case .answered(nil), .forgotten:
            return reply(route.id, device: route.peer, outcome: RelayOutcome(.outcomeUnknown, detail: "it came before"))
        }
        work.described[route.id] = "file \(offer.name)"
        if isDenied(route.peer, app: Self.ownApp, service: Self.filesService) {
            return reply(
                route.id, device: route.peer,
                outcome: RelayOutcome(.notAuthorized, detail: "the owner takes no files from you"))
        }
        guard streams.incoming.count < Self.streamLimit, streams.incoming[route.id] == nil else {
            return reply(
                route.id, device: route.peer,
                outcome: RelayOutcome(.resourceLimits, detail: "other files are coming; try again later"))
        }
        streams.incoming[route.id] = Incoming(device: route.peer, offer: offer, heardAt: now)
        let mark = "\(route.peer)\u{0}\(offer.name)\u{0}\(offer.size)\u{0}\(offer.modified)"
        let digest = SHA256.hash(data: Array(mark.utf8)).prefix(16).map {
            String(UInt16($0) + 256, radix: 16).suffix(2)
        }
        let folder = settings.filesFolder ?? ownFilesFolder
        let part = ".aldaba-\(digest.joined()).part"
        // A folder that the person named is not made anew where it is missing: its disk may only be away.
        directives.append(
            .file(stream: route.id, .prepare(folder: folder, part: part, isMade: settings.filesFolder == nil)))
    }

    /// Whether other devices may be about to say something, since they just did.
    func isTalking(_ now: Int64) -> Bool {
        // A clock that was set back makes it no longer than the pause.
        streams.talkedAt <= now && now &- streams.talkedAt < Self.talkPause && streams.talkedAt != .min
    }

    private mutating func ask(_ id: UUID, _ now: Int64) {
        guard var file = streams.incoming[id], file.isReady, file.digest == nil else { return }
        let piece = Int64(RelayFiles.pieceSize)
        let window = isTalking(now) ? file.window.bytesBesideTalk : file.window.bytes
        let share = min(window, max(piece, Self.window / Int64(max(1, streams.incoming.count)) / piece * piece))
        let end = min(file.offer.size, file.written + share)
        let length = end - file.requested
        // Not for every piece, and at once for the last.
        guard !file.hasAsked || (length > 0 && (length >= share / 4 || end == file.offer.size)) else { return }
        let content = RelayContent.pull(
            stream: id, offset: file.requested, length: max(0, length), prefix: file.hasAsked ? [] : file.prefix)
        file.hasAsked = true
        if length > 0 { file.window.asked(from: file.requested, arrived: file.arrived, at: now) }
        file.requested = max(file.requested, end)
        streams.incoming[id] = file
        send(content, to: file.device, deadline: nil)
    }

    private mutating func askAgain(_ id: UUID, _ now: Int64) {
        guard let file = streams.incoming[id], file.isReady else { return }
        streams.incoming[id]?.heardAt = now
        streams.incoming[id]?.requested = file.arrived
        streams.incoming[id]?.hasAsked = false
        streams.incoming[id]?.window.forgetSample()
        // What is there was written here: its beginning need not be compared again.
        streams.incoming[id]?.prefix = []
        ask(id, now)
    }

    mutating func receiveChunk(_ id: UUID, offset: Int64, bytes: [UInt8], device: String, at now: Int64) {
        guard var file = streams.incoming[id], file.device == device, file.isReady, !bytes.isEmpty,
            bytes.count <= RelayFiles.pieceSize
        else { return }
        if offset == 0, file.arrived > 0, file.arrived == file.written, !file.prefix.isEmpty {
            // What had come earlier is of another file.
            file.arrived = 0
            file.written = 0
            file.requested = min(file.offer.size, file.requested - file.start)
            file.window.forgetSample()
        }
        guard offset == file.arrived, offset + Int64(bytes.count) <= file.requested else { return }
        file.prefix = []
        file.arrived += Int64(bytes.count)
        file.window.arrived(upTo: file.arrived, at: now)
        file.heardAt = now
        file.tries = 0
        streams.incoming[id] = file
        directives.append(.file(stream: id, .write(offset: offset, bytes)))
    }

    mutating func piecesEnded(_ id: UUID, digest: [UInt8], device: String, at now: Int64) {
        guard let file = streams.incoming[id], file.device == device, file.isReady, digest.count == 32 else { return }
        // Pieces are missing: they are asked for again when it has been silent for a while.
        guard file.arrived == file.offer.size else { return }
        guard file.prefix.isEmpty || file.prefix == digest else {
            // All that there is had come earlier, and is of another file.
            return beginAnew(id, now)
        }
        streams.incoming[id]?.digest = digest
        streams.incoming[id]?.heardAt = now
        directives.append(.file(stream: id, .finish(name: file.offer.name, digest: digest)))
    }

    private mutating func beginAnew(_ id: UUID, _ now: Int64) {
        streams.incoming[id]?.start = 0
        streams.incoming[id]?.arrived = 0
        streams.incoming[id]?.written = 0
        askAgain(id, now)
    }

    /// Forgets a file that comes; what came of it stays on the disk.
    mutating func incomingEnded(_ id: UUID) {
        guard streams.incoming.removeValue(forKey: id) != nil else { return }
        work.described[id] = nil
        directives.append(.file(stream: id, .leave))
    }

    /// Looks for files of which nothing has come for a while.
    mutating func lookForSilentFiles(_ now: Int64) {
        for (id, file) in streams.incoming
        where file.isReady && file.digest == nil && file.heardAt + Self.pieceSilence <= now {
            guard file.tries < Self.pieceTries else {
                reply(
                    id, device: file.device,
                    outcome: RelayOutcome(.failed, detail: "the pieces stopped coming; send it again to go on"))
                incomingEnded(id)
                continue
            }
            streams.incoming[id]?.tries += 1
            askAgain(id, now)
        }
    }

    var nextFileMoment: Int64? {
        guard !streams.incoming.isEmpty else { return nil }
        return streams.incoming.values.lazy.filter { $0.isReady && $0.digest == nil }.map {
            $0.heardAt + Self.pieceSilence
        }
        .min()
    }

    // MARK: What came of orders

    /// The outcome of ``Directive/file(stream:_:)``.
    package mutating func filed(_ id: UUID, _ event: RelayFileEvent, at now: Int64) -> [Directive] {
        switch event {
        case .prepared(let length, let digest):
            guard streams.incoming[id] != nil else { break }
            // More than there can be is of no use.
            let isUsable = length <= streams.incoming[id]?.offer.size ?? 0
            streams.incoming[id]?.isReady = true
            streams.incoming[id]?.start = isUsable ? length : 0
            streams.incoming[id]?.arrived = isUsable ? length : 0
            streams.incoming[id]?.written = isUsable ? length : 0
            streams.incoming[id]?.requested = isUsable ? length : 0
            streams.incoming[id]?.prefix = isUsable ? digest : []
            streams.incoming[id]?.heardAt = now
            ask(id, now)
        case .written(let upTo):
            streams.incoming[id]?.written = upTo
            ask(id, now)
        case .finished(let path):
            guard let file = streams.incoming.removeValue(forKey: id) else { break }
            reply(
                id, device: file.device,
                outcome: RelayOutcome(.success, detail: path.split(separator: "/").last.map(String.init)))
            for (client, member) in members where member.watches {
                directives.append(.tell(client, .received(device: file.device, path: path)))
            }
            // Others may have more in transit now.
            for other in streams.incoming.keys { ask(other, now) }
        case .piece(let offset, let bytes): sendPiece(id, offset: offset, bytes: bytes)
        case .ended(let digest):
            guard let file = streams.outgoing[id] else { break }
            send(.piecesEnded(stream: id, digest: digest), to: file.device, deadline: nil, isBulk: true)
        case .failed(let why): fileFailed(id, why: why, at: now)
        }
        return take(now)
    }

    private mutating func sendPiece(_ id: UUID, offset: Int64, bytes: [UInt8]) {
        guard let file = streams.outgoing[id] else { return }
        let done = offset + Int64(bytes.count)
        streams.outgoing[id]?.reading = max(0, file.reading - Int64(bytes.count))
        guard !file.isAway else { return }
        send(.piece(stream: id, offset: offset, bytes), to: file.device, deadline: nil, isBulk: true)
        guard let client = file.client,
            done - file.told >= max(1 << 20, file.offer.size / 100) || done == file.offer.size
        else { return }
        streams.outgoing[id]?.told = done
        directives.append(.tell(client, .progress(request: file.request, done: done, size: file.offer.size)))
    }

    private mutating func fileFailed(_ id: UUID, why: String, at now: Int64) {
        if let file = streams.incoming.removeValue(forKey: id) {
            reply(id, device: file.device, outcome: RelayOutcome(.failed, detail: why))
        }
        guard let file = streams.outgoing[id] else { return }
        send(.cancel(command: id), to: file.device, deadline: nil)
        if ledger[id] != nil { end(id, RelayOutcome(.failed, detail: why), now) } else { outgoingEnded(id) }
    }
}
