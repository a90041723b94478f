/// The version of Aldaba.
package enum AldabaVersion {
    /// The version's number, as `aldaba --version` and the Debian package show it (Semantic Versioning 2.0.0).
    package static let number = "0.1.0"
}
