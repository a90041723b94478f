import ArgumentParser

/// The options for sending to many devices.
struct BulkOptions: ParsableArguments {
    /// The most bytes of a file of recipients or of results.
    static let fileLimit = 1 << 30

    @Option(
        help: """
            Send to the devices of a file: CSV with a column token, or JSON Lines with a member token. A column's name in \
            braces, such as {name}, is replaced in the payload.
            """)
    var recipients: String?
    @Option(
        help: """
            With --recipients: a file that gets a line of JSON for each device. Devices that it has an answer of are left \
            out.
            """)
    var results: String?
    @Option(help: "With --recipients: the most notifications a second.") var rate: Int?

    /// The fault of options that do not go together.
    func fault(namesDevice: Bool, isEncrypted: Bool, hasImage: Bool, hasID: Bool) -> String? {
        guard recipients != nil else {
            return results == nil && rate == nil ? nil : "--results and --rate need --recipients"
        }
        if namesDevice { return "--recipients names the devices: leave --token and --app out" }
        if isEncrypted || hasImage || hasID {
            return "--recipients goes neither with --encrypt nor with --image nor with --id, which are for one device"
        }
        if let rate, rate < 1 { return "--rate is at least 1" }
        return nil
    }
}
