import Foundation
import HTTPTypes
import Hummingbird
import PushCore

/// The routes by which teams, apps, keys, certificates, service accounts and enrolment keys are made, changed and revoked.
/// Only listeners whose callers may act for every team have them.
package struct RegisterInterface: ControlInterface {
    /// The parts of the register.
    package typealias Register = RegisterStore & CertificateRegister & TeamRegister & ServiceAccountRegister
        & EnrolmentKeyRegister

    let register: any Register
    let webhooks: any AppMessageStore
    let answers: WebhookAnswers
    let files: any RegisterFiles
    let changes: AuditedChanges
    let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    package init(
        register: any Register, webhooks: any AppMessageStore, answers: WebhookAnswers, files: any RegisterFiles,
        changes: AuditedChanges, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.register = register
        self.webhooks = webhooks
        self.answers = answers
        self.files = files
        self.changes = changes
        self.clock = clock
    }

    /// Adds the routes.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        guard !isSecured else { return }
        router.get("v1/teams", use: handler(listTeams))
        router.post("v1/teams", use: handler(addTeam))
        addApps(to: router)
        addCredentials(to: router)
    }

    private func addApps(to router: Router<ControlContext>) {
        router.post("v1/apps", use: handler(addApp))
        router.patch("v1/apps/:topic", use: handler(changeApp))
        router.delete("v1/apps/:topic", use: handler(removeApp))
        router.get("v1/apps/:topic/webhook", use: handler(getWebhook))
        router.put("v1/apps/:topic/webhook", use: handler(setWebhook))
        router.delete("v1/apps/:topic/webhook", use: handler(removeWebhook))
        router.get("v1/apps/:topic/webhook/answers", use: handler(listWebhookAnswers))
    }

    private func addCredentials(to router: Router<ControlContext>) {
        router.get("v1/keys", use: handler(listKeys))
        router.post("v1/keys", use: handler(addKey))
        router.delete("v1/keys/:id", use: handler(revokeKey))
        router.get("v1/certificates", use: handler(listCertificates))
        router.post("v1/certificates", use: handler(addCertificate))
        router.delete("v1/certificates/:id", use: handler(revokeCertificate))
        router.post("v1/certificates/:id/renew", use: handler(renewCertificate))
        router.get("v1/service-accounts", use: handler(listServiceAccounts))
        router.post("v1/service-accounts", use: handler(addServiceAccount))
        router.delete("v1/service-accounts/:id", use: handler(revokeServiceAccount))
        router.get("v1/enrolment-keys", use: handler(listEnrolmentKeys))
        router.post("v1/enrolment-keys", use: handler(addEnrolmentKey))
        router.delete("v1/enrolment-keys/:id", use: handler(revokeEnrolmentKey))
    }

    /// Answers a refusal of the register as a conflict.
    private func handler(
        _ answer: @escaping @Sendable (Request, ControlContext) async throws -> Response
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        { request, context in
            do { return try await answer(request, context) } catch let refusal as RegisterError {
                throw ControlError(status: .conflict, code: "conflict", message: "\(refusal); choose another")
            }
        }
    }

    /// A component of the path without percent encoding.
    func component(_ name: String, _ context: ControlContext) throws -> String {
        let text = try context.parameters.require(name)
        return text.removingPercentEncoding ?? text
    }

    /// The refusal of a path whose object is not there.
    func missing(_ what: String, list: String) -> ControlError {
        ControlError(
            status: .notFound, code: "notFound", message: "the register has no \(what); GET \(list) shows those it has")
    }
}
