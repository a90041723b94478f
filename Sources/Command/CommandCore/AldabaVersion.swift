/// Which version of Aldaba this is.
public enum AldabaVersion {
    /// The version's number, as `aldaba --version` and the Debian package tell it (Semantic Versioning 2.0.0).
    public static let number = "0.1.0"
}
