import CoreValues
import Crypto
import Foundation
import RelayProtocol

/// The files that come from other devices. The receiver requests the pieces, so that no more is in transit than the
/// network can hold. A file continues at its position after any interruption. A value.
struct IncomingFiles {
    /// A file that comes from another device.
    struct File {
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
        /// The time of the last piece, or of what was done instead of waiting for it.
        var lastPieceAt: Timestamp
        var tries = 0
    }

    private(set) var files: [UUID: File] = [:]

    /// How many files come, and go, at a time.
    static var limit: Int { 16 }
    /// The most bytes in transit to this device, of all files together.
    static var window: Int64 { PieceWindow.range.upperBound }
    /// After how long without a piece they are asked for again, and how often.
    static var pieceSilence: Duration { .seconds(10) }
    static var pieceTries: Int { 3 }

    /// Whether another file may come now.
    var hasCapacity: Bool { files.count < Self.limit }

    // MARK: Beginning and end

    /// Begins a file that a device offers.
    ///
    /// - Parameters:
    ///   - folder: The folder that it is put into.
    ///   - isMade: Whether the folder is made where it is missing.
    mutating func begin(
        _ offer: RelayOffer, id: UUID, from device: String, folder: String, isMade: Bool, at now: Timestamp
    ) -> [RelayEffect] {
        files[id] = File(device: device, offer: offer, lastPieceAt: now)
        let mark = "\(device)\u{0}\(offer.name)\u{0}\(offer.size)\u{0}\(offer.modified)"
        let digest = SHA256.hash(data: Array(mark.utf8)).prefix(16).map {
            String(UInt16($0) + 256, radix: 16).suffix(2)
        }
        let part = ".aldaba-\(digest.joined()).part"
        return [Self.order(id, .prepare(folder: folder, part: part, isMade: isMade))]
    }

    /// Removes a file whose outcome is known, and returns its device; `nil` where there is none.
    mutating func remove(_ id: UUID) -> String? { files.removeValue(forKey: id)?.device }

    /// Discards a file; what came of it stays on the disk.
    mutating func discard(_ id: UUID) -> [RelayHost.Directive] {
        files.removeValue(forKey: id) == nil ? [] : [.file(stream: id, .leave)]
    }

    private static func order(_ id: UUID, _ order: RelayFileOrder) -> RelayEffect {
        .directive(.file(stream: id, order))
    }

    // MARK: Requests for pieces

    private mutating func request(_ id: UUID, isTalking: Bool, at now: Timestamp) -> [RelayEffect] {
        guard var file = files[id], file.isReady, file.digest == nil else { return [] }
        let piece = Int64(RelayFiles.pieceSize)
        let window = isTalking ? file.window.bytesBesideTalk : file.window.bytes
        let share = min(window, max(piece, Self.window / Int64(max(1, files.count)) / piece * piece))
        let end = min(file.offer.size, file.written + share)
        let length = end - file.requested
        // Not for every piece, and at once for the last.
        guard !file.hasAsked || (length > 0 && (length >= share / 4 || end == file.offer.size)) else { return [] }
        let content = RelayContent.pull(
            stream: id, offset: file.requested, length: max(0, length), prefix: file.hasAsked ? [] : file.prefix)
        file.hasAsked = true
        if length > 0 { file.window.asked(from: file.requested, arrived: file.arrived, at: now) }
        file.requested = max(file.requested, end)
        files[id] = file
        return [.send(content, to: file.device)]
    }

    /// Requests the pieces of all files: each may have more in transit after one of them has ended.
    mutating func requestAll(isTalking: Bool, at now: Timestamp) -> [RelayEffect] {
        var effects: [RelayEffect] = []
        for id in files.keys { effects += request(id, isTalking: isTalking, at: now) }
        return effects
    }

    /// Requests again what has not come of a file.
    mutating func requestAgain(_ id: UUID, isTalking: Bool, at now: Timestamp) -> [RelayEffect] {
        guard let file = files[id], file.isReady else { return [] }
        files[id]?.lastPieceAt = now
        files[id]?.requested = file.arrived
        files[id]?.hasAsked = false
        files[id]?.window.forgetSample()
        // What is there was written here: its beginning need not be compared again.
        files[id]?.prefix = []
        return request(id, isTalking: isTalking, at: now)
    }

    // MARK: What comes

    /// A piece has come.
    mutating func receive(
        _ bytes: [UInt8], of id: UUID, offset: Int64, from device: String, at now: Timestamp
    ) -> [RelayEffect] {
        guard var file = files[id], file.device == device, file.isReady, !bytes.isEmpty,
            bytes.count <= RelayFiles.pieceSize
        else { return [] }
        if offset == 0, file.arrived > 0, file.arrived == file.written, !file.prefix.isEmpty {
            // What had come earlier is of another file.
            file.arrived = 0
            file.written = 0
            file.requested = min(file.offer.size, file.requested - file.start)
            file.window.forgetSample()
        }
        guard offset == file.arrived, offset + Int64(bytes.count) <= file.requested else { return [] }
        file.prefix = []
        file.arrived += Int64(bytes.count)
        file.window.arrived(upTo: file.arrived, at: now)
        file.lastPieceAt = now
        file.tries = 0
        files[id] = file
        return [Self.order(id, .write(offset: offset, bytes))]
    }

    /// The last piece was sent; the digest is that of the whole file.
    mutating func piecesEnded(
        _ id: UUID, digest: [UInt8], from device: String, isTalking: Bool, at now: Timestamp
    ) -> [RelayEffect] {
        guard let file = files[id], file.device == device, file.isReady, digest.count == 32 else { return [] }
        // Missing pieces are requested again after a silence.
        guard file.arrived == file.offer.size else { return [] }
        guard file.prefix.isEmpty || file.prefix == digest else {
            // All that there is had come earlier, and is of another file.
            files[id]?.start = 0
            files[id]?.arrived = 0
            files[id]?.written = 0
            return requestAgain(id, isTalking: isTalking, at: now)
        }
        files[id]?.digest = digest
        files[id]?.lastPieceAt = now
        return [Self.order(id, .finish(name: file.offer.name, digest: digest))]
    }

    // MARK: The disk

    /// So much of the file came earlier, with this digest.
    mutating func prepared(
        _ id: UUID, length: Int64, digest: [UInt8], isTalking: Bool, at now: Timestamp
    ) -> [RelayEffect] {
        guard var file = files[id] else { return [] }
        // More than there can be is of no use.
        let isUsable = length <= file.offer.size
        file.isReady = true
        file.start = isUsable ? length : 0
        file.arrived = file.start
        file.written = file.start
        file.requested = file.start
        file.prefix = isUsable ? digest : []
        file.lastPieceAt = now
        files[id] = file
        return request(id, isTalking: isTalking, at: now)
    }

    /// The file is written up to an offset.
    mutating func didWrite(_ id: UUID, upTo offset: Int64, isTalking: Bool, at now: Timestamp) -> [RelayEffect] {
        files[id]?.written = offset
        return request(id, isTalking: isTalking, at: now)
    }

    // MARK: Time

    /// Requests again what has not come for a while, and ends files of which nothing comes any more.
    mutating func due(isTalking: Bool, at now: Timestamp) -> [RelayEffect] {
        var effects: [RelayEffect] = []
        for (id, file) in files
        where file.isReady && file.digest == nil && file.lastPieceAt + Self.pieceSilence <= now {
            guard file.tries < Self.pieceTries else {
                let detail = "the pieces stopped coming; send it again to go on"
                effects.append(.reply(id, to: file.device, RelayOutcome(.failed, detail: detail)))
                effects += discard(id).map { .directive($0) }
                continue
            }
            files[id]?.tries += 1
            effects += requestAgain(id, isTalking: isTalking, at: now)
        }
        return effects
    }

    /// When ``due(isTalking:at:)`` has something to do next; `nil` for never.
    var nextMoment: Timestamp? {
        files.values.lazy.filter { $0.isReady && $0.digest == nil }.map { $0.lastPieceAt + Self.pieceSilence }.min()
    }
}
