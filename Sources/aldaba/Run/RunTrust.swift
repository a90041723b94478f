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
    static func variables(authority: String, folder: DataFolder) throws -> [String: String] {
        var variables = Dictionary(uniqueKeysWithValues: names.map { ($0, authority) })
        // PHP reads its settings from files alone; the empty part stands for its own folder.
        let php = folder.root + "/php"
        try PrivateFile.makeFolder(php)
        try PrivateFile.write(
            Array("openssl.cafile=\(authority)\ncurl.cainfo=\(authority)\n".utf8), to: php + "/aldaba.ini", mode: 0o644)
        variables["PHP_INI_SCAN_DIR"] = ":\(php)"
        return variables
    }
}
