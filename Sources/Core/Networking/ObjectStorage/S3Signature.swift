import Crypto
import Foundation
import PushCore

/// Signs requests to an S3-compatible object store ("Authenticating Requests: Using the Authorization Header (AWS Signature
/// Version 4)", Amazon S3 API reference).
struct S3Signature: Sendable {
    let credentials: S3Credentials
    let region: String

    /// The header fields that authenticate a request, besides those that it has.
    ///
    /// - Parameters:
    ///   - path: The path of the request's URL, percent-encoded as it is sent.
    ///   - headers: The request's fields by their lower-case names, `host` among them. All of them are signed.
    ///   - sha256: The SHA-256 of the body, 64 lower-case hexadecimal digits.
    ///   - seconds: The time, in seconds since 1970. Servers allow 15 minutes of difference.
    func fields(
        method: String, path: String, headers: [String: String], sha256: String, seconds: Int
    ) -> [String: String] {
        let time = Self.text(of: seconds)
        var added = ["x-amz-content-sha256": sha256, "x-amz-date": time]
        if let token = credentials.token { added["x-amz-security-token"] = token }
        let signed = headers.merging(added) { own, _ in own }.sorted { $0.key < $1.key }
        let names = signed.map(\.key).joined(separator: ";")
        let lines = signed.map { "\($0.key):\($0.value)\n" }.joined()
        // The empty line is that of the query.
        let request = "\(method)\n\(path)\n\n\(lines)\n\(names)\n\(sha256)"
        let scope = "\(time.prefix(8))/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Hexadecimal.text(SHA256.hash(data: Data(request.utf8))))"
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key(day: String(time.prefix(8))))
        added["authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.id)/\(scope),SignedHeaders=\(names),"
            + "Signature=\(Hexadecimal.text(code))"
        return added
    }

    /// The key of a day, region and service.
    private func key(day: String) -> SymmetricKey {
        [day, region, "s3", "aws4_request"].reduce(SymmetricKey(data: Data("AWS4\(credentials.secret)".utf8))) {
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data($1.utf8), using: $0))
        }
    }

    /// A time as `20130524T000000Z`.
    private static func text(of seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func digits(_ number: Int32, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        return "\(day)T\(digits(parts.tm_hour, 2))\(digits(parts.tm_min, 2))\(digits(parts.tm_sec, 2))Z"
    }
}
