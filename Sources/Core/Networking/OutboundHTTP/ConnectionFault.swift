import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// Describes a connection's failure in a sentence for people, unlike the libraries' errors.
package enum ConnectionFault {
    /// The words for a certificate that is not accepted.
    package static let untrusted = "no authority that is trusted here signed its certificate, or that has ended"

    /// The meaning of a connection's error, as the end of a sentence that begins with the server's address.
    ///
    /// - Parameter host: The host that was to be reached, as it was written.
    package static func words(_ error: any Error, host: String) -> String {
        switch error {
        case let error as NIOConnectionError: return words(error, host: host)
        case let error as IOError: return words(errno: error.errnoCode)
        case let error as HostUnknown: return "there is no machine of the name \(host) (\(error))"
        case let error as OutboundError: return error.description
        case let error as HTTPClientError: return words(error)
        case is NIOSSLExtraError:
            return "its certificate is not for \(host); name the server as its certificate does"
        case let error as NIOSSLError: return words(error)
        case is BoringSSLError: return tls("\(error)")
        case is ChannelError, is CancellationError: return "the connection ended before the answer came"
        case is NIOTooManyBytesError: return "its answer is longer than what is taken"
        default: return "the connection failed: \(firstLine("\(error)"))"
        }
    }

    private static func words(_ error: NIOConnectionError, host: String) -> String {
        if let failure = error.connectionErrors.first { return words(failure.error, host: host) }
        if error.dnsAError != nil || error.dnsAAAAError != nil { return "there is no machine of the name \(host)" }
        return "it cannot be reached"
    }

    private static func words(errno code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "nothing listens there; does the server run?"
        case ECONNRESET, EPIPE: "it closed the connection; does it speak TLS, and this protocol, at this port?"
        case ETIMEDOUT: "it does not answer in time"
        case ENETUNREACH, EHOSTUNREACH: "there is no way to it"
        default: String(cString: strerror(code))
        }
    }

    private static func words(_ error: HTTPClientError) -> String {
        switch error {
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout:
            "it does not answer in time; does the server run?"
        case .remoteConnectionClosed: "it closed the connection; does it speak TLS, and HTTP, at this port?"
        case .invalidURL, .emptyHost, .emptyScheme: "this is no address of a server"
        default: "the request failed: \(firstLine(error.shortDescription))"
        }
    }

    private static func words(_ error: NIOSSLError) -> String {
        switch error {
        case .handshakeFailed(let reason): tls("\(reason)")
        case .uncleanShutdown: "it ended the connection in the middle"
        case .unableToValidateCertificate: tls("CERTIFICATE_VERIFY_FAILED")
        case .noCertificateToValidate: "it shows no certificate"
        default: tls("\(error)")
        }
    }

    /// The meaning of BoringSSL's text, which contains the library's own constants.
    private static func tls(_ text: String) -> String {
        let meanings = [
            ("CERTIFICATE_VERIFY_FAILED", untrusted),
            ("WRONG_VERSION_NUMBER", "it does not speak TLS at this port"),
            ("HTTP_REQUEST", "it does not speak TLS at this port"),
            ("UNSUPPORTED_PROTOCOL", "it speaks only versions of TLS that are not taken any more"),
            ("HANDSHAKE_FAILURE", "it refused the TLS handshake"),
            ("EOF", "it closed the connection in the TLS handshake; does it speak TLS at this port?"),
        ]
        return meanings.first { text.uppercased().contains($0.0) }?.1 ?? "TLS with it failed: \(firstLine(text))"
    }

    private static func firstLine(_ text: String) -> String { String(text.prefix { $0 != "\n" }.prefix(200)) }
}
