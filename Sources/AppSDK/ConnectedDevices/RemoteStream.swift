import Foundation
import RelayProtocol
import Synchronization

/// A source of bytes that an app sends as a stream.
public protocol RemoteStreamSource: Sendable {
    /// The number of bytes; the stream ends when the source has fewer bytes, or others than before.
    var size: Int64 { get }
    /// Reads so many bytes from a place on. Called on a queue of the stream's, and may block.
    func read(at offset: Int64, count: Int) throws -> Data
}

/// Bytes in memory as a stream.
public struct DataStreamSource: RemoteStreamSource {
    private let data: Data

    /// Creates a stream of bytes.
    public init(_ data: Data) { self.data = data }

    /// How many there are.
    public var size: Int64 { Int64(data.count) }
    /// Cuts some out.
    public func read(at offset: Int64, count: Int) -> Data {
        data.dropFirst(Int(clamping: offset)).prefix(count)
    }
}

/// A file as a stream.
public struct FileStreamSource: RemoteStreamSource {
    private let file: URL
    /// The file's size when the source was made.
    public let size: Int64

    /// The file of an address, which must be there.
    public init(_ file: URL) throws {
        self.file = file
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
        self.size = size?.int64Value ?? 0
    }

    /// Reads a part of the file.
    public func read(at offset: Int64, count: Int) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(clamping: offset))
        return try handle.read(upToCount: count) ?? Data()
    }
}

/// A stream to an app service on another device.
///
/// The receiver requests pieces, at most 8 MiB ahead, so that no buffer grows. It may begin after the bytes that it has
/// already, which are compared by their digest.
public enum RemoteStream {
    /// Sends a stream, and waits until the other app has received or refused it.
    ///
    /// - Parameters:
    ///   - name: The stream's name, at most 255 bytes.
    ///   - command: The command with which the state of the stream is queried.
    ///   - timeout: The timeout, at most an hour.
    /// - Returns: The status ``AppServiceResponseStatus/outcomeUnknown`` where the route was lost. The same stream may
    ///   be sent again; it continues at the offset that the other app names.
    public static func send(
        _ source: some RemoteStreamSource, named name: String, to info: AppServiceInfo,
        request: RemoteSystemConnectionRequest, as command: RemoteCommand = RemoteCommand(),
        within timeout: Duration = .seconds(3600)
    ) async -> AppServiceResponse {
        let client = RelayClient.shared
        let id = command.id
        let giver = StreamSender(source) {
            client.say(.stream(id, $0))
        } fail: {
            client.say(.cancel(request: 0, id: id))
        }
        let listener = client.listen { news in
            if case .notice(.stream(id, let step)) = news { giver.receive(step) }
        }
        defer { client.ignore(listener) }
        let offer = RelayOffer(
            name: name, size: source.size, modified: 0, app: request.app ?? info.packageId, service: info.name)
        let outcome = await client.command(.stream(offer), id: id, on: request.device, within: timeout)
        return AppServiceResponse(
            message: ValueSetCoding.values(outcome.message ?? [:]),
            status: giver.hasFailed ? .failure : AppServiceResponseStatus(outcome.status),
            detail: giver.hasFailed ? "what was to be sent could not be read" : outcome.detail)
    }
}

/// The end that gives a stream.
final class StreamSender: Sendable {
    private struct State {
        /// How much was given, or compared.
        var reached: Int64 = 0
        /// The same with its digest, where the pieces did not begin at 0; else the agent makes the digest.
        var position: StreamPosition?
        var hasFailed = false
    }

    private let source: any RemoteStreamSource
    private let say: @Sendable (RelayStreamStep) -> Void
    private let fail: @Sendable () -> Void
    private let queue = DispatchQueue(label: "aldaba.relay.stream")
    private let state = Mutex(State())

    init(
        _ source: any RemoteStreamSource, say: @escaping @Sendable (RelayStreamStep) -> Void,
        fail: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.say = say
        self.fail = fail
    }

    /// Whether the source could not be read.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func receive(_ step: RelayStreamStep) {
        guard case .pull(let offset, let length, let prefix) = step else { return }
        queue.async { [self] in
            do { try give(offset, length: length, prefix: prefix) } catch {
                state.withLock { $0.hasFailed = true }
                fail()
            }
        }
    }

    private struct Ended: Error {}

    private func give(_ offset: Int64, length: Int64, prefix: [UInt8]) throws {
        guard !hasFailed, offset >= 0, offset <= source.size, length >= 0 else { return }
        var (reached, position) = state.withLock { ($0.reached, $0.position) }
        if reached != offset {
            position = offset == 0 ? nil : try beginning(upTo: offset)
            // The bytes that are there belong to something else: start from the beginning. Where all bytes are there
            // already, none were requested, and the digest of the whole shows whether it is the same.
            if offset < source.size, position?.prefix ?? [] != prefix { position = nil }
            reached = position?.offset ?? 0
        }
        let end = reached + min(length, source.size - reached)
        while reached < end {
            let piece = try read(reached, until: end)
            say(.piece(offset: reached, [UInt8](piece)))
            position?.append(piece)
            reached += Int64(piece.count)
        }
        state.withLock { [reached, position] in ($0.reached, $0.position) = (reached, position) }
        if reached == source.size { say(.allGiven(digest: position?.whole ?? [])) }
    }

    private func beginning(upTo offset: Int64) throws -> StreamPosition {
        var position = StreamPosition()
        while position.offset < offset { position.append(try read(position.offset, until: offset)) }
        return position
    }

    private func read(_ offset: Int64, until end: Int64) throws -> Data {
        let count = Int(min(end - offset, Int64(RelayStreamStep.pieceSize)))
        let piece = try source.read(at: offset, count: count)
        guard !piece.isEmpty, piece.count <= count else { throw Ended() }
        return piece
    }
}
