import Networking

extension ConnectionFault {
    /// The meaning of a connection's error, with the option of commands that names another authority.
    static func commandWords(_ error: any Error, host: String) -> String { commandWords(words(error, host: host)) }

    /// An error's meaning, with that option.
    static func commandWords(_ words: String) -> String {
        words == untrusted ? "\(words); name the authority with --ca" : words
    }
}
