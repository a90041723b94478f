import Networking

extension ConnectionFault {
    /// The meaning of a connection's error, with the option of commands that names another authority.
    static func commandWords(_ error: any Error, host: String) -> String { withOption(words(error, host: host)) }

    /// The meaning of a library's error text for a handshake that failed, with that option.
    static func commandWords(tls text: String, host: String) -> String { withOption(words(tls: text, host: host)) }

    private static func withOption(_ words: String) -> String {
        words == untrusted ? "\(words); name the authority with --ca" : words
    }
}
