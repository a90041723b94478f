import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Platform

/// A bucket of an S3-compatible object store. Every call blocks, and is not for event loops.
package final class S3Bucket: Sendable {
    /// A request to the store that failed.
    package struct Failure: Error, CustomStringConvertible {
        /// Whether the store has answered; otherwise it is away, or does not know the outcome.
        package var isAnswer = false
        /// The request that failed, and the reason.
        package let description: String
    }

    private let base: URLComponents
    private let region: String
    private let credentials: @Sendable () throws -> S3Credentials
    private let client: HTTPClient
    /// Reading files blocks. Those who wait for the bucket have the threads of the common pool.
    private let threads = NIOThreadPool(numberOfThreads: 2)

    /// The bytes that are read by one request.
    private static let pieceSize: Int64 = 4 << 20
    /// The bytes that are read from a file at once.
    private static let chunkSize = 128 << 10
    /// The longest description of a failure that is read.
    private static let longestAnswer = 16 << 10
    /// The time for a whole upload. It is as long as a provider has to upload a file.
    private static let uploadTimeout = TimeAmount.minutes(10)
    private static let timeout = TimeAmount.seconds(30)
    /// The SHA-256 of no bytes.
    private static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Creates a client without connections.
    ///
    /// - Parameters:
    ///   - address: The address of the bucket, to which the objects' keys are added: `https://HOST/BUCKET` or
    ///     `https://BUCKET.HOST`.
    ///   - region: The region that requests are signed for.
    ///   - credentials: Reads the access key, for each request anew.
    /// - Throws: ``Failure`` for any other address.
    package init(
        _ address: String, region: String, credentials: @escaping @Sendable () throws -> S3Credentials
    ) throws(Failure) {
        guard let base = URLComponents(string: address), ["http", "https"].contains(base.scheme),
            base.host?.isEmpty == false, base.user == nil, base.password == nil, base.query == nil, base.fragment == nil
        else { throw Failure(description: "the address of a bucket is https://HOST/BUCKET or https://BUCKET.HOST") }
        self.base = Self.canonical(base)
        self.region = region
        self.credentials = credentials
        var settings = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(3), read: .seconds(10), write: .seconds(10)),
            decompression: .disabled)
        // Each upload and each copy at once has a connection.
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        // A request fails at once where the store is away: its sender may try again.
        settings.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        threads.start()
    }

    /// The address with a path that has the one form in which paths are signed: all but letters, digits and `-._~/` is encoded.
    private static func canonical(_ address: URLComponents) -> URLComponents {
        var address = address
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
        if let path = address.path.addingPercentEncoding(withAllowedCharacters: plain) {
            address.percentEncodedPath = path
        }
        return address
    }

    deinit {
        client.shutdown { _ in }
        threads.shutdownGracefully { _ in }
    }

    /// Stores a file as an object, in the place of an earlier one with its key.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - key: The object's key: letters, digits, `.`, `-` and `/`.
    ///   - sha256: The SHA-256 of the file, 64 lower-case hexadecimal digits, which the store checks.
    /// - Throws: ``Failure``, or the error of the credentials.
    package func put(_ path: String, as key: String, bytes: Int64, sha256: String) throws {
        let file = try Descriptor(open(path, O_RDONLY | O_CLOEXEC), "file \(path)")
        let body = HTTPClient.Body.stream(contentLength: bytes) { [self] in send(file, to: $0, from: 0) }
        let answer = try send(.PUT, key, sha256: sha256, body: body, timeout: Self.uploadTimeout)
        guard answer.status == .ok else { throw Failure(answer, to: .PUT) }
    }

    /// Reads an object in pieces.
    ///
    /// - Parameters:
    ///   - bytes: The object's size, at least one.
    ///   - write: Called with the pieces in their order.
    /// - Returns: Whether there is an object with that key, which has been read to its end.
    /// - Throws: ``Failure``, the error of the credentials, or that of `write`.
    package func get(_ key: String, bytes: Int64, write: ([UInt8]) throws -> Void) throws -> Bool {
        var offset: Int64 = 0
        while offset < bytes {
            let end = min(offset + Self.pieceSize, bytes)
            let answer = try send(.GET, key, headers: ["range": "bytes=\(offset)-\(end - 1)"], timeout: Self.timeout)
            if answer.status == .notFound { return false }
            // A store may answer a range that is the whole object with status 200.
            guard answer.status == .partialContent || answer.status == .ok, let body = answer.body,
                Int64(body.readableBytes) == end - offset
            else { throw Failure(answer, to: .GET) }
            try write(Array(body.readableBytesView))
            offset = end
        }
        return true
    }

    /// Deletes an object; one that is missing counts as deleted.
    ///
    /// - Throws: ``Failure``, or the error of the credentials.
    package func delete(_ key: String) throws {
        let answer = try send(.DELETE, key, timeout: Self.timeout)
        guard [.ok, .noContent, .notFound].contains(answer.status) else { throw Failure(answer, to: .DELETE) }
    }

    /// Sends a file from an offset on to its end.
    private func send(_ file: Descriptor, to writer: HTTPClient.Body.StreamWriter, from offset: off_t)
        -> EventLoopFuture<Void>
    {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        return threads.runIfActive(eventLoop: loop) {
            var chunk = ByteBufferAllocator().buffer(capacity: Self.chunkSize)
            try chunk.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.chunkSize) { buffer in
                let count = pread(file.number, buffer.baseAddress, Self.chunkSize, offset)
                guard count >= 0 else { throw MachineError(what: "the file that is uploaded", code: errno) }
                return count
            }
            return chunk
        }.flatMap { chunk in
            guard chunk.readableBytes > 0 else { return loop.makeSucceededVoidFuture() }
            return writer.write(.byteBuffer(chunk)).flatMap { [self] in
                send(file, to: writer, from: offset + off_t(chunk.readableBytes))
            }
        }
    }

    // MARK: Requests

    private func send(
        _ method: HTTPMethod, _ key: String, headers: [String: String] = [:], sha256: String = emptyDigest,
        body: HTTPClient.Body? = nil, timeout: TimeAmount
    ) throws -> HTTPClient.Response {
        var url = base
        url.percentEncodedPath += (base.percentEncodedPath.hasSuffix("/") ? "" : "/") + key
        let isUsual = url.port == nil || url.port == (url.scheme == "https" ? 443 : 80)
        // The name is in the signature, as the client sends it.
        let host = (url.percentEncodedHost ?? "") + (isUsual ? "" : ":\(url.port ?? 0)")
        var fields = headers.merging(["host": host]) { own, _ in own }
        let signature = S3Signature(credentials: try credentials(), region: region)
        fields.merge(
            signature.fields(
                method: method.rawValue, path: url.percentEncodedPath, headers: fields, sha256: sha256,
                seconds: Int(Date().timeIntervalSince1970))
        ) { own, _ in own }
        do {
            let request = try HTTPClient.Request(
                url: url.string ?? "", method: method, headers: HTTPHeaders(fields.map { ($0.key, $0.value) }),
                body: body)
            let answer = ResponseAccumulator(
                request: request, maxBodySize: Int(Self.pieceSize) + Self.longestAnswer)
            return try client.execute(request: request, delegate: answer, deadline: .now() + timeout).wait()
        } catch let error as HTTPClientError {
            // Some of its errors have values of header fields.
            throw Failure(description: "the bucket does not answer \(method.rawValue): \(error.shortDescription)")
        } catch { throw Failure(description: "the bucket does not answer \(method.rawValue): \(error)") }
    }
}

extension S3Bucket.Failure {
    /// The failure that an answer tells.
    fileprivate init(_ answer: HTTPClient.Response, to method: HTTPMethod) {
        // The answer is XML with a code such as SignatureDoesNotMatch.
        let text = answer.body.map { String(decoding: $0.readableBytesView.prefix(300), as: UTF8.self) } ?? ""
        self.init(
            isAnswer: true,
            description: "the bucket answers \(method.rawValue) with status \(answer.status.code): \(text)")
    }
}
