import AldabaConfiguration
import AsyncHTTPClient
import Foundation
import NIOCore
import Platform

/// A provider's requests for the files of notifications: the server's control API, over TLS, with a provider token.
package struct MediaClient {
    private var control: String
    private var authority: String?
    private var token: String

    /// Asks one server in a team's name.
    ///
    /// - Parameters:
    ///   - control: The control API's address, `https://host:port`.
    ///   - authority: The authority of the server's certificate, PEM; `nil` for the system's.
    ///   - token: The provider token.
    package init(control: String, authority: String?, token: String) {
        self.control = control
        self.authority = authority
        self.token = token
    }

    /// A kept file, as the server describes it.
    package struct Kept: Codable {
        /// The name, 40 hexadecimal digits.
        package var name: String
        /// The address by which devices have it.
        package var url: String
        var type: String
        var bytes: Int64
        var sha256: String
        var team: String?
        var made: String
        var expires: String
    }

    /// Sends a file, a piece at a time. The server determines its type.
    package func upload(_ path: String) async throws -> Kept {
        let file: Descriptor
        do { file = try Descriptor(open(path, O_RDONLY | O_CLOEXEC), "file \(path)") } catch {
            throw CommandError(.invalidInput, "\(path) cannot be read: \(error.reason)")
        }
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(.invalidInput, "\(path) is no regular file")
        }
        var request = HTTPClientRequest(url: "\(control)/v1/media")
        request.method = .POST
        let size = Int64(status.st_size)
        let bar = ProgressBar(ProgressMeter("uploading \(path)", total: size, unit: .bytes))
        defer { bar.end() }
        request.body = .stream(Pieces(file: file, bar: bar), length: .known(size))
        let answer = try await answer(to: request, timeout: .minutes(10), about: path)
        return try Self.read(answer, as: Kept.self)
    }

    /// All files that the server keeps for the key's team, a page at a time.
    package func list(_ take: ([Kept]) throws -> Void) async throws {
        var after = ""
        while true {
            let request = HTTPClientRequest(url: "\(control)/v1/media\(after)")
            let page = try Self.read(try await answer(to: request, about: "media"), as: [Kept].self)
            try take(page)
            guard page.count == 1000, let last = page.last else { return }
            after = "?after=\(last.name)"
        }
    }

    /// Deletes a file by its name.
    package func delete(_ name: String) async throws -> Kept {
        var request = HTTPClientRequest(url: "\(control)/v1/media/\(name)")
        request.method = .DELETE
        return try Self.read(try await answer(to: request, about: name), as: Kept.self)
    }

    private func answer(
        to request: HTTPClientRequest, timeout: TimeAmount = .seconds(15), about subject: String
    ) async throws -> Data {
        var request = request
        request.headers.add(name: "authorization", value: "bearer \(token)")
        let (status, body) = try await ControlClient.exchange(request, authority: authority, timeout: timeout)
        let message = ControlClient.message(body)
        switch status {
        case 200..<300: return body
        case 401, 403: throw CommandError(.notAuthorized, "the server does not allow this: \(message)")
        case 404: throw CommandError(.failed, "\(subject): the server has no such file of this team's")
        case 400..<500: throw CommandError(.invalidInput, "\(subject): the server refused: \(message)")
        default: throw CommandError(.failed, "\(subject): the server answered \(status): \(message)")
        }
    }

    private static func read<Value: Decodable>(_ body: Data, as type: Value.Type) throws -> Value {
        guard let value = try? JSONDecoder().decode(type, from: body) else {
            throw CommandError(.failed, "the server's answer cannot be read")
        }
        return value
    }
}

/// A file's bytes, 64 KiB at a time.
private struct Pieces: AsyncSequence, Sendable {
    let file: Descriptor
    let bar: ProgressBar

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: Descriptor
        let bar: ProgressBar

        mutating func next() async throws -> ByteBuffer? {
            var buffer = ByteBufferAllocator().buffer(capacity: 65_536)
            let file = file.number
            let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 65_536) {
                Swift.max(0, read(file, $0.baseAddress, 65_536))
            }
            bar.add(Int64(count))
            return count > 0 ? buffer : nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file, bar: bar) }
}
