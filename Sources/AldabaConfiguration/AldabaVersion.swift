/// The version of Aldaba.
public enum AldabaVersion {
    /// The version's number, as `aldaba --version` and the Debian package show it (Semantic Versioning 2.0.0).
    public static let number = "0.1.0"
}
