import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// The route `GET /media/NAME.ENDING`: a stored file for clients that know its name, whole, in part, or not modified
/// (RFC 9110, sections 13 and 14).
struct MediaServing: Sendable {
    let store: MediaStore

    func respond(_ request: Request, addressName: String) async throws -> Response {
        let found: OpenMedia?
        do { found = try await store.find(addressName) } catch let error as MediaUnavailableError {
            throw ControlError(status: .serviceUnavailable, code: "unavailable", message: error.description)
        }
        guard let open = found else {
            store.count(.notFound)
            throw ControlError.notFound
        }
        let file = open.file
        let tag = EntityTag(file.digest)
        var headers: HTTPFields = [
            .eTag: tag.text, .acceptRanges: "bytes",
            // A named file never changes, and is not for shared caches, since its name is a secret.
            .cacheControl: "private, max-age=31536000, immutable",
        ]
        if tag.isNamed(inIfNoneMatch: request.headers[.ifNoneMatch]) {
            store.count(.notModified)
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.format.contentType
        // A browser must not guess another type, and so runs nothing that may be hidden in the file.
        headers[.xContentTypeOptions] = "nosniff"
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        // A range has no meaning for HEAD (RFC 9110, section 14.2).
        let isAsked = request.method == .get && tag.allowsRange(ifRange: request.headers[.ifRange])
        switch ByteRange(field: isAsked ? request.headers[.range] : nil, length: file.bytes) {
        case .whole:
            store.count(.whole)
            return Response(status: .ok, headers: headers, body: body(open, 0..<file.bytes))
        case .part(let range):
            store.count(.part)
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes)"
            return Response(status: .partialContent, headers: headers, body: body(open, range))
        case .unsatisfiable:
            store.count(.unsatisfiable)
            var answer = ControlError(
                status: .rangeNotSatisfiable, code: "unsatisfiable", message: "the file has \(file.bytes) bytes"
            ).response
            answer.headers[.contentRange] = "bytes */\(file.bytes)"
            return answer
        }
    }

    /// Reads and sends 64 KiB at a time, so that no file is whole in memory.
    private func body(_ open: OpenMedia, _ range: Range<Int64>) -> ResponseBody {
        ResponseBody(contentLength: Int(range.upperBound - range.lowerBound)) { [store] writer in
            var place = range.lowerBound
            while place < range.upperBound {
                let (start, count) = (place, Int(min(range.upperBound - place, 65_536)))
                let piece = try await MediaRoute.onDisk {
                    var buffer = ByteBufferAllocator().buffer(capacity: count)
                    try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
                        try open.read(into: UnsafeMutableRawBufferPointer(rebasing: $0.prefix(count)), at: start)
                    }
                    return buffer
                }
                try await writer.write(piece)
                place += Int64(piece.readableBytes)
                store.countServed(Int64(piece.readableBytes), of: open.file)
            }
            try await writer.finish(nil)
        }
    }
}

extension HTTPField.Name {
    fileprivate static let xContentTypeOptions = Self("X-Content-Type-Options")!
}
