import AldabaConfiguration
import Foundation

/// The variables by which languages and their libraries trust a further certificate authority.
enum RunTrust {
    /// The variables, each with the authority's file.
    private static let names = [
        "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "HTTPLIB2_CA_CERTS",
    ]

    /// Makes the variables, and the files that some of them need.
    ///
    /// - Parameters:
    ///   - addsPublic: Whether the system's authorities are trusted as well.
    ///   - environment: The variables that the command has already.
    static func variables(
        authority: String, addsPublic: Bool, folder: DataFolder, environment: [String: String]
    ) throws -> [String: String] {
        let own = try PrivateFile.text(authority) ?? ""
        let others = addsPublic ? publicAuthorities : ""
        let authority = addsPublic ? folder.root + "/trusted.pem" : authority
        if addsPublic { try PrivateFile.write(Array((others + own).utf8), to: authority, mode: 0o644) }
        var variables = Dictionary(uniqueKeysWithValues: names.map { ($0, authority) })
        // PHP reads its settings from files alone; the empty part stands for its own folder.
        let php = folder.root + "/php"
        try PrivateFile.makeFolder(php)
        try PrivateFile.write(
            Array("openssl.cafile=\(authority)\ncurl.cainfo=\(authority)\n".utf8), to: php + "/aldaba.ini", mode: 0o644)
        variables["PHP_INI_SCAN_DIR"] = ":\(php)"
        // A virtual machine says on standard error that it has read this variable.
        let store = folder.root + "/ca.jks"
        try PrivateFile.write(JavaTrustStore(authorities: own + others).bytes, to: store, mode: 0o644)
        let options =
            "-Djavax.net.ssl.trustStore=\(store) -Djavax.net.ssl.trustStorePassword=\(JavaTrustStore.password)"
        variables["JAVA_TOOL_OPTIONS"] = [environment["JAVA_TOOL_OPTIONS"], options].compactMap(\.self).joined(
            separator: " ")
        return variables
    }

    /// The authorities that Debian's package ca-certificates installs; none without it.
    private static var publicAuthorities: String {
        // Without the package there are none.
        (try? String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)) ?? ""
    }
}
