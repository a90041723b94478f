import ArgumentParser

/// The header fields of a request to APNs that a sender may set.
struct RequestFieldOptions: ParsableArguments {
    @Option(help: "apns-priority: 10, 5 or 1.") var priority: String?
    @Option(help: "apns-push-type; a suffix that it asks for is added to the topic.") var pushType: String?
    @Option(help: "apns-expiration: seconds since 1970, or 0 for one attempt.") var expiration: String?
    @Option(help: "apns-collapse-id.") var collapseID: String?
    @Option(help: "apns-id, a UUID.") var id: String?
}
