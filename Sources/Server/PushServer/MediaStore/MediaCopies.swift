import Dispatch
import Foundation
import Platform
import Synchronization

/// Copies files from other servers, a piece at a time, by the messages between nodes.
package final class MediaCopies: NodeListener {
    private let messenger: any NodeMessenger
    private let node: UInt16
    /// Opens a file of this server's; `nil` for one that it does not have.
    private let open = Mutex<(@Sendable (MediaName) throws -> OpenMedia?)?>(nil)
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "aldaba.media.copies")

    private struct State {
        var lastNumber: UInt64 = 0
        /// The pieces that are awaited.
        var awaited: [UInt64: @Sendable (Piece) -> Void] = [:]
    }

    /// The answer to a request for a piece.
    enum Piece: Sendable {
        case bytes([UInt8])
        /// The server does not have the file, or did not answer.
        case missing
    }

    /// The bytes of a piece.
    static let size = 128 * 1024
    /// The time after which a server has not answered.
    static let timeout = DispatchTimeInterval.seconds(3)

    /// Creates an instance that answers other servers from now on.
    package init(_ messenger: any NodeMessenger, node: UInt16) {
        self.messenger = messenger
        self.node = node
        messenger.listen(self, as: .media)
    }

    /// Lets other servers copy files.
    func serve(_ open: @escaping @Sendable (MediaName) throws -> OpenMedia?) { self.open.withLock { $0 = open } }

    /// Copies a file from the first of some servers that has it. Blocks.
    ///
    /// - Parameter write: Called with the pieces in their order.
    /// - Returns: Whether the file is complete.
    func copy(_ file: MediaFile, from nodes: [UInt16], write: ([UInt8]) throws -> Void) throws -> Bool {
        var offset: Int64 = 0
        for node in nodes where node != self.node {
            while offset < file.bytes {
                guard case .bytes(let bytes) = ask(node, for: file.name, at: offset), !bytes.isEmpty,
                    Int64(bytes.count) <= file.bytes - offset
                else { break }
                try write(bytes)
                offset += Int64(bytes.count)
            }
            if offset == file.bytes { return true }
        }
        return false
    }

    private func ask(_ node: UInt16, for name: MediaName, at offset: Int64) -> Piece {
        let answer = Mutex<Piece>(.missing)
        let isThere = DispatchSemaphore(value: 0)
        let number = state.withLock { state in
            state.lastNumber += 1
            state.awaited[state.lastNumber] = { piece in
                answer.withLock { $0 = piece }
                isThere.signal()
            }
            return state.lastNumber
        }
        let message = MediaNodeMessage.ask(number: number, from: self.node, name: name, offset: offset)
        messenger.send(message.encoded, to: node, as: .media) { [weak self] sent in
            if sent != .received { self?.handle(.missing, number) }
        }
        if isThere.wait(timeout: .now() + Self.timeout) == .timedOut { handle(.missing, number) }
        return answer.withLock { $0 }
    }

    private func handle(_ piece: Piece, _ number: UInt64) {
        state.withLock { $0.awaited.removeValue(forKey: number) }?(piece)
    }

    /// Receives a question of another server, or its answer.
    package func receive(_ bytes: [UInt8]) {
        switch MediaNodeMessage(bytes) {
        case .ask(let number, let asker, let name, let offset):
            // Reading blocks. Those who wait for other servers have the threads of the pool.
            queue.async { [weak self] in
                guard let self else { return }
                let piece = read(name, at: offset)
                messenger.send(MediaNodeMessage.piece(number: number, piece).encoded, to: asker, as: .media) { _ in }
            }
        case .piece(let number, let bytes): handle(bytes.map(Piece.bytes) ?? .missing, number)
        case nil: break
        }
    }

    /// Copies need not know which nodes run: one that does not answers nothing.
    package func receive(_ nodes: RunningNodes) {}

    private func read(_ name: MediaName, at offset: Int64) -> [UInt8]? {
        // A file that cannot be read is missing for the other server too, which says so to its client.
        guard let open = self.open.withLock({ $0 }), let media = try? open(name), offset >= 0, offset < media.file.bytes
        else { return nil }
        let count = Int(min(Int64(Self.size), media.file.bytes - offset))
        // The same holds for a piece.
        return try? [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = try media.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }
}

/// A message between servers about a file: one byte of kind, and numbers in big-endian.
package enum MediaNodeMessage: Hashable, Sendable {
    /// A server asks for a piece of a file.
    case ask(number: UInt64, from: UInt16, name: MediaName, offset: Int64)
    /// A piece of the file; `nil` where there is none.
    case piece(number: UInt64, [UInt8]?)

    /// The message's bytes.
    package var encoded: [UInt8] {
        switch self {
        case .ask(let number, let node, let name, let offset):
            [1] + Self.bytes(number) + Self.bytes(node) + Self.bytes(offset) + Array(name.description.utf8)
        case .piece(let number, let bytes): [bytes == nil ? 2 : 3] + Self.bytes(number) + (bytes ?? [])
        }
    }

    /// Reads a message; `nil` for bytes that are none.
    package init?(_ bytes: [UInt8]) {
        var rest = bytes.dropFirst()
        func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
            let size = Number.bitWidth / 8
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
        guard let kind = bytes.first, let given = number(UInt64.self) else { return nil }
        switch kind {
        case 1:
            guard let node = number(UInt16.self), let offset = number(Int64.self),
                let text = String(validating: rest, as: UTF8.self), let name = MediaName(text)
            else { return nil }
            self = .ask(number: given, from: node, name: name, offset: offset)
        case 2 where rest.isEmpty: self = .piece(number: given, nil)
        case 3: self = .piece(number: given, Array(rest))
        default: return nil
        }
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
