/// The kinds of changes that the audit log has.
package enum AuditAction: String, Sendable, CaseIterable {
    /// Each is a change of the register, by its object and verb.
    case addApp = "app.add"
    case updateApp = "app.update"
    case removeApp = "app.remove"
    case setWebhook = "webhook.set"
    case removeWebhook = "webhook.remove"
    case addTeam = "team.add"
    case addKey = "key.add"
    case importKey = "key.import"
    case revokeKey = "key.revoke"
    case addCertificate = "certificate.add"
    case revokeCertificate = "certificate.revoke"
    case addAuthority = "authority.add"
    case revokeAuthority = "authority.revoke"
    case addServiceAccount = "service-account.add"
    case revokeServiceAccount = "service-account.revoke"
    case addEnrolmentKey = "enrolment-key.add"
    case revokeEnrolmentKey = "enrolment-key.revoke"
    case blockDevice = "device.block"
    case unblockDevice = "device.unblock"
    case revokeDevice = "device.revoke"
    case addPerson = "person.add"
    case changePerson = "person.change"
    case removePerson = "person.remove"
    case setPassword = "person.password"
    case logIn = "session.begin"
    case endSession = "session.end"

    /// The data folder was made from a backup.
    case restoreBackup = "backup.restore"

    /// Each is a change of content.
    case sendNotification = "notification.send"
    case withdrawNotification = "notification.withdraw"
    case addMedia = "media.add"
    case deleteMedia = "media.delete"
    case subscribe = "topic.subscribe"
    case unsubscribe = "topic.unsubscribe"
    case changeGroup = "group.change"

    /// Each is a change of a hub.
    case addHub = "hub.add"
    case setHubLimits = "hub.limit"
    case setHubPictures = "hub.pictures"
    case importInstallations = "hub.import"
    case deletePerson = "hub.delete-user"
    case setHubWebhook = "hub.set-webhook"
    case removeHubWebhook = "hub.remove-webhook"
    case addHubKey = "hub-key.add"
    case revokeHubKey = "hub-key.revoke"
    case setHubCredential = "hub-credential.set"
    case removeHubCredential = "hub-credential.remove"
    case beginCampaign = "campaign.begin"
    case testCampaign = "campaign.test"
    case pauseCampaign = "campaign.pause"
    case resumeCampaign = "campaign.resume"
    case cancelCampaign = "campaign.cancel"
    case withdrawCampaign = "campaign.withdraw"

    /// Each is a change of what tests set.
    case addFault = "fault.add"
    case removeFault = "fault.remove"
    case advanceClock = "clock.advance"
    case resetTests = "test.reset"
}

extension AuditAction {
    /// Whether the change takes access away, so that it matters when it counts.
    package var endsAccess: Bool {
        switch self {
        case .revokeKey, .revokeCertificate, .revokeAuthority, .revokeServiceAccount, .revokeEnrolmentKey, .blockDevice,
            .revokeDevice:
            true
        default: false
        }
    }
}
