import Foundation
import RelayProtocol

/// The files that go to other devices, which request the pieces. A value.
struct OutgoingFiles {
    /// A file that goes to another device.
    struct File {
        /// The client that is notified of the progress; `nil` where the other device asked for the file.
        var client: ClientNumber?
        var request: Int64
        var device: String
        var path: String
        var offer: RelayOffer
        /// How many bytes were asked for and not read yet.
        var reading: Int64 = 0
        /// The progress last reported to the client, in bytes.
        var reported: Int64 = 0
        /// Whether the connectivity to the device was lost: the file is offered again when it is back.
        var isSuspended = false
    }

    private var files: [UUID: File] = [:]

    /// The longest time that the transfer of a file may take: a day.
    static var timeout: Duration { .seconds(86_400) }

    /// Whether another file may go now.
    var hasCapacity: Bool { files.count < IncomingFiles.limit }
    /// The devices that files go to.
    var devices: [String] { files.values.map(\.device) }

    /// The file of an id; `nil` for none.
    subscript(id: UUID) -> File? { files[id] }

    /// Adds a file.
    mutating func add(_ file: File, id: UUID) { files[id] = file }

    /// The ids of the files that go to a device.
    func ids(to device: String) -> [UUID] { files.compactMap { $1.device == device ? $0 : nil } }

    /// Discards a file that is not sent any more.
    mutating func discard(_ id: UUID) -> [RelayHost.Directive] {
        files.removeValue(forKey: id) == nil ? [] : [.file(stream: id, .leave)]
    }

    // MARK: Losses of connectivity

    /// The connectivity to a device was lost: its files are offered again when it is back.
    mutating func suspend(to device: String) {
        for id in ids(to: device) { suspend(id) }
    }

    /// A file's device is unreachable.
    mutating func suspend(_ id: UUID) { files[id]?.isSuspended = true }

    /// The files to be offered again to a device, or to any.
    func suspendedFiles(for device: String?) -> [(id: UUID, file: File)] {
        files.compactMap { $1.isSuspended && (device == nil || $1.device == device) ? ($0, $1) : nil }
    }

    /// A file is offered again.
    mutating func resume(_ id: UUID) {
        files[id]?.isSuspended = false
        files[id]?.reading = 0
    }

    // MARK: Pieces

    /// The receiver requests pieces.
    mutating func read(
        _ id: UUID, offset: Int64, length: Int64, prefix: [UInt8], for device: String
    ) -> [RelayEffect] {
        let window = IncomingFiles.window
        guard let file = files[id], file.device == device, offset >= 0, length >= 0, length <= window,
            offset <= file.offer.size, file.reading + length <= 2 * window
        else { return [] }
        files[id]?.reading += length
        let order = RelayFileOrder.read(path: file.path, file.offer, offset: offset, length: length, prefix: prefix)
        return [.executing(id, on: device), .directive(.file(stream: id, order))]
    }

    /// A piece was read: it is sent, and the client learns of the progress from time to time.
    mutating func send(_ bytes: [UInt8], of id: UUID, offset: Int64) -> [RelayEffect] {
        guard let file = files[id] else { return [] }
        let done = offset + Int64(bytes.count)
        files[id]?.reading = max(0, file.reading - Int64(bytes.count))
        guard !file.isSuspended else { return [] }
        let piece = RelayEffect.send(.piece(stream: id, offset: offset, bytes), to: file.device, isBulk: true)
        guard let client = file.client,
            done - file.reported >= max(1 << 20, file.offer.size / 100) || done == file.offer.size
        else { return [piece] }
        files[id]?.reported = done
        return [piece, .directive(.tell(client, .progress(request: file.request, done: done, size: file.offer.size)))]
    }

    /// The file's end was read.
    func sendEnd(of id: UUID, digest: [UInt8]) -> [RelayEffect] {
        guard let file = files[id] else { return [] }
        return [.send(.piecesEnded(stream: id, digest: digest), to: file.device, isBulk: true)]
    }
}
