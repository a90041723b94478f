import AgentProtocol
import Crypto

/// Checks a file while it arrives. It keeps only the first few bytes and a hash.
struct MediaIntake: Sendable {
    private var head: [UInt8] = []
    private var hash = SHA256()
    private(set) var bytes: Int64 = 0
    private(set) var format: MediaFormat?

    /// The properties of a complete file.
    struct Verdict: Sendable {
        var format: MediaFormat
        var bytes: Int64
        var digest: String
    }

    /// Takes the next bytes. Once a call throws, the file is refused.
    mutating func take(_ piece: UnsafeRawBufferPointer) throws(MediaRejection) {
        bytes += Int64(piece.count)
        if format == nil {
            head += piece.prefix(MediaFormat.headLength - head.count)
            if head.count == MediaFormat.headLength { try judge() }
        }
        let limit = format?.kind.limit ?? MediaKind.largest
        guard bytes <= limit else { throw .tooLarge(format?.kind) }
        hash.update(bufferPointer: piece)
    }

    /// Ends the file, and checks it as a whole.
    mutating func finish() throws(MediaRejection) -> Verdict {
        guard bytes > 0 else { throw .empty }
        let format: MediaFormat = if let format { format } else { try judge() }
        return Verdict(format: format, bytes: bytes, digest: MediaName.hexadecimal(hash.finalize()))
    }

    @discardableResult
    private mutating func judge() throws(MediaRejection) -> MediaFormat {
        guard let found = MediaFormat(head: head) else { throw .unknownFormat }
        format = found
        return found
    }
}
