import Testing

/// One rule of a contract; a store's test suite checks each on a store of its own.
package struct ContractRule<Contract>: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    package let check: @Sendable (Contract) async throws -> Void

    init(_ name: String, check: @escaping @Sendable (Contract) async throws -> Void) {
        testDescription = name
        self.check = check
    }
}

extension NotificationStoreContract {
    /// All that a ``NotificationStore`` must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("pages") { try await $0.`what was inserted is paged in order, whole`() },
            ContractRule("rollback") { try await $0.`changes of which one cannot be made leave nothing behind`() },
            ContractRule("removal") { try await $0.`what was removed no longer waits and keeps its timeline`() },
            ContractRule("note") { try await $0.`what a door said of a notification stands beside accepted`() },
            ContractRule("mailbox") { try $0.`a mailbox is read back as it was`() },
            ContractRule("identity") {
                try $0.`an identity is found within its window, in any case, for its registration only`()
            },
            ContractRule("apns-id") { try await $0.`one apns-id may name several notifications, refusals too`() },
            ContractRule("hiding") {
                try await $0.`no team's refusals hide what another team, or the same, had accepted`()
            },
            ContractRule("revocation") {
                try await $0.`mail of revoked devices and removed apps is found by the sweep`()
            },
            ContractRule("tombstones") { try await $0.`a tombstone is paged in its place until it is removed`() },
            ContractRule("tombstones' ends") { try await $0.`tombstones leave with their app and their device`() },
            ContractRule("missed notifications") {
                try await $0.`what a device missed is counted by lane until it is forgotten`()
            },
            ContractRule("recalls") { try await $0.`a recall is paged in its place until it is removed`() },
            ContractRule("recalls' ends") {
                try await $0.`recalls leave with their notification, their app and their device`()
            },
            ContractRule("ownership") {
                try await $0.`the notifications of a device are told from another's and from unknown ones`()
            },
            ContractRule("timeline") { try await $0.`the same line of a timeline twice is one`() },
            ContractRule("secret") { try await $0.`a device's secret is known until it is revoked`() },
            ContractRule("sweep") { try $0.`a sweep finds every device whose mail has expired, slice by slice`() },
            ContractRule("absence") {
                try $0.`a sweep finds the devices that have been away and for which something waits`()
            },
            ContractRule("ceiling") { try $0.`the ceiling of ids only rises`() },
            ContractRule("unrecorded") { try await $0.`what was not recorded is known as such to its team`() },
            ContractRule("sharing") { try await $0.`a payload is there for everyone who points to it`() },
            ContractRule("sharing's end") {
                try await $0.`a shared payload leaves when nobody points to it any more`()
            },
            ContractRule("pruning") { try await $0.`pruning takes what is old, never what waits`() },
        ]
    }
}

extension RegisterStoreContract {
    /// All that a ``RegisterStore`` must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("topic") { try await $0.`a topic belongs to one team`() },
            ContractRule("key") { try await $0.`a key id is given once`() },
            ContractRule("removal") { try await $0.`a removed app is gone, and its topic stays its team's`() },
            ContractRule("key revocation") { try await $0.`a revoked key is gone for good`() },
            ContractRule("device revocation") { try await $0.`a revoked device has no secret and no registration`() },
            ContractRule("version") { try await $0.`every change of the register is a new version`() },
            ContractRule("certificate") {
                try await $0.`a certificate is there once, and stays known when it was revoked`()
            },
            ContractRule("authority") { try await $0.`an authority is there until it is taken out`() },
            ContractRule("team") { try await $0.`a team's id is given once`() },
            ContractRule("service account") {
                try await $0.`a service account is there once, and stays known when it was revoked`()
            },
            ContractRule("device group") {
                try await $0.`a device group is its team's, changes in one step and ends with its last member`()
            },
            ContractRule("capability") {
                try await $0.`an app keeps its name and its capability until they are set anew`()
            },
            ContractRule("device") { try await $0.`a device id is given once`() },
            ContractRule("registration") { try await $0.`a registration keeps its generation until it has ended`() },
            ContractRule("encryption key") { try await $0.`a published key is its registration's until that ends`() },
            ContractRule("web registration") {
                try await $0.`a browser's registration is kept until the registration ends`()
            },
            ContractRule("change of a web registration") {
                try await $0.`a browser's registration is changed where it is still the one that was read`()
            },
            ContractRule("browser's subscription") {
                try await $0.`a browser's subscription is kept until its app's registration ends`()
            },
            ContractRule("broadcast channels") {
                try await $0.`channels of an app are kept by environment, as many as the limit allows`()
            },
            ContractRule("installation") { try await $0.`an installation is its team's until it is deleted`() },
            ContractRule("installations of a key") {
                try await $0.`an enrolment key makes so many installations at a time`()
            },
            ContractRule("enrolment key") {
                try await $0.`an enrolment key counts until its quota, its time or its revocation`()
            },
            ContractRule("blocking") { try await $0.`a blocked device has no secret and keeps its registrations`() },
            ContractRule("devices") { try await $0.`devices are listed page by page`() },
        ]
    }
}
