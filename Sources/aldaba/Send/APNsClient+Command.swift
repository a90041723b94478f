import AldabaAPNs
import AldabaConfiguration

extension APNsClient {
    /// Creates the client of a command.
    ///
    /// - Parameter authority: The path of the authorities that may have signed the server's certificate; `nil` for those of
    ///   the system.
    /// - Throws: ``CommandError`` with the file that cannot be used.
    static func forCommand(
        credential: APNsCredential, host: String, port: Int, authority: String?, options: APNsOptions
    ) throws -> APNsClient {
        let authorities = try authority.map { path in
            guard let bytes = try PrivateFile.bytes(path) else {
                throw CommandError(.invalidInput, "there is no file of authorities \(path)")
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let server = APNsServer(host: host, port: port, authorities: authorities)
        guard server.hasReadableAuthorities else {
            throw CommandError(
                .invalidInput, "\(authority ?? ""): no certificates in PEM; an authority's would be right")
        }
        var options = options
        // Failures are part of the command's own answer.
        options.logger.logLevel = .critical
        do { return try APNsClient(credential: credential, server: server, options: options) } catch {
            throw CommandError(.invalidInput, "\(error)")
        }
    }
}
