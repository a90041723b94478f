import CenterPages
import HTTPTypes
import Hummingbird
import PushCore

/// The secrets of one run of `aldaba center`: the token of the address that it prints, and the cookie that a browser gets for it.
///
/// The pages are under a path that is new in each run, and the cookie is for that path alone: a browser sends the cookies of a host to all
/// of its ports, so that another server on this machine would be told it otherwise.
struct CenterSession: Sendable {
    private static let cookie = "aldaba-center"
    /// The parameter of the address that carries the token.
    private static let parameter = "token"

    /// The path under which the pages are, without a slash at its end.
    let path: String
    @Secret private var token: String
    @Secret private var proof: String

    /// A new run's.
    init(using generator: inout some RandomNumberGenerator) {
        func text() -> String {
            Hexadecimal.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }
        path = "/" + text().prefix(16)
        _token = Secret(text())
        _proof = Secret(text())
    }

    /// The address to open, which contains the token.
    func address(port: Int) -> String { "http://127.0.0.1:\(port)\(path)/?\(Self.parameter)=\(token)" }

    /// Whether a request brings the token; `nil` where it brings none.
    func isEntering(_ request: Request) -> Bool? {
        guard request.method == .get, let shown = request.uri.queryParameters[Self.parameter[...]] else { return nil }
        return ConstantTime.equal(shown.utf8, token.utf8)
    }

    /// Whether a request has the cookie.
    func isKnown(_ request: Request) -> Bool {
        request.cookies[Self.cookie].map { ConstantTime.equal($0.value.utf8, proof.utf8) } ?? false
    }

    /// The value of `Set-Cookie` (RFC 6265) for a browser that brought the token.
    var cookieField: String { "\(Self.cookie)=\(proof); Path=\(path); HttpOnly; SameSite=Strict" }
}
