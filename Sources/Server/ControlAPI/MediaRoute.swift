import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import PushCore
import PushServer

/// The routes `/v1/media`: providers upload the files of their notifications (`POST`), list them (`GET`), and delete
/// them (`DELETE …/NAME`). A provider's access is limited to its team.
struct MediaRoute: Sendable {
    let media: MediaServices
    let access: ProviderAccess

    /// `POST /v1/media`: the body is the file, whatever it is said to be.
    func upload(_ request: Request) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        guard let base = media.publicAddress() else { throw ControlError.unavailable }
        do {
            let taken = try await take(request, team)
            media.store.countUpload(isNew: taken.isNew)
            return .json(MediaAnswerBody(taken.file, base), status: taken.isNew ? .created : .ok)
        } catch let refusal as MediaRejection {
            media.store.countUpload(refused: refusal)
            throw ControlError(status: refusal.status, code: refusal.code, message: refusal.description)
        } catch {
            media.store.countUpload(refused: nil)
            throw error
        }
    }

    /// Writes the body to the disk piece by piece, off the event loops.
    private func take(_ request: Request, _ team: TeamID?) async throws -> AcceptedMedia {
        if let coding = request.headers[.contentEncoding], !["", "identity"].contains(coding.lowercased()) {
            throw ControlError.unknownCoding(coding)
        }
        let announced = request.headers[.contentLength].flatMap { Int64($0) }
        let store = media.store
        let upload = try await store.runBlocking { try store.begin(team: team, announced: announced) }
        var pieces = request.body.makeAsyncIterator()
        var received: Int64 = 0
        while let piece = try await Self.next(&pieces) {
            received += Int64(piece.readableBytes)
            try await Self.onDisk { try piece.withUnsafeReadableBytes { try upload.take($0) } }
        }
        guard announced == nil || announced == received else { throw Self.isBroken }
        return try await store.finish(upload)
    }

    private static func next(_ pieces: inout RequestBody.AsyncIterator) async throws -> ByteBuffer? {
        do { return try await pieces.next() } catch is SlowBody { throw MediaRejection.slow } catch { throw isBroken }
    }

    private static let isBroken = ControlError.invalid(
        "the body cannot be read: it is malformed, or it ends early")

    /// The route `GET /v1/media`: at most 1,000 files in the order of their names, after `after`.
    func list(_ request: Request) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        guard let base = media.publicAddress() else { throw ControlError.unavailable }
        let words = request.uri.queryParameters
        let after = try words["after"].map { text in
            guard let name = MediaName(text) else {
                throw ControlError.invalid("after takes the name of a file, 40 hexadecimal digits")
            }
            return name
        }
        let limit = try words["limit"].map { text in
            guard let limit = Int(text), (1...Self.pageLimit).contains(limit) else {
                throw ControlError.invalid("limit takes a number, 1 to \(Self.pageLimit)")
            }
            return limit
        }
        let store = media.store
        let files = try await store.runBlocking {
            try store.list(team: team, after: after, limit: limit ?? Self.pageLimit)
        }
        return .json(files.map { MediaAnswerBody($0, base) })
    }

    private static let pageLimit = 1000

    /// The route `DELETE /v1/media/NAME`.
    func delete(_ request: Request, name: String) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        guard let base = media.publicAddress() else { throw ControlError.unavailable }
        let store = media.store
        guard let name = MediaName(name), let file = try await store.runBlocking({ try store.delete(name, team: team) })
        else {
            throw ControlError.notFound
        }
        return .json(MediaAnswerBody(file, base))
    }

    /// Runs a closure that blocks for the disk on a thread of the pool.
    static func onDisk<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive(body)
    }
}

extension MediaRejection {
    var status: HTTPResponse.Status {
        switch self {
        case .empty: .badRequest
        case .unknownFormat: .unsupportedMediaType
        case .tooLarge: .contentTooLarge
        case .quota, .count, .teamQuota, .teamCount: .insufficientStorage
        case .busy, .bucket: .serviceUnavailable
        case .teamBusy: .tooManyRequests
        case .slow: .requestTimeout
        }
    }
}

extension HTTPResponse.Status {
    /// Status 507 (RFC 4918, section 11.5).
    fileprivate static var insufficientStorage: Self { .init(code: 507, reasonPhrase: "Insufficient Storage") }
}

/// A file's JSON in the API.
private struct MediaAnswerBody: Encodable {
    var name: String
    var url: String
    var type: String
    var bytes: Int64
    var sha256: String
    var team: String?
    var made: String
    var expires: String

    init(_ file: MediaFile, _ base: String) {
        name = file.name.description
        url = "\(base)/media/\(file.addressName)"
        type = file.format.contentType
        bytes = file.bytes
        sha256 = file.digest
        team = file.team?.rawValue
        made = file.made.description
        expires = file.expires.description
    }
}
