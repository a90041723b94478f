import Hummingbird
import PushCore
import PushServer
import Texts

/// The list of a developer's apps, certificates and keys, in the order of Apple's member centre.
enum AccountPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("account") { try await show($0) }
        TeamPage.add(to: routes)
        AppsPage.add(to: routes)
        AppPage.add(to: routes)
        CertificatesPage.add(to: routes)
        KeysPage.add(to: routes)
        ServiceAccountsPage.add(to: routes)
        EnrolmentKeysPage.add(to: routes)
        HubsPage.add(to: routes)
        HubPage.add(to: routes)
    }

    private static func show(_ pageRequest: PageRequest) async throws -> Response {
        let certificates = try await pageRequest.json("/v1/certificates")
        let lists: [(part: String, count: Int)] = [
            ("teams", try await count("/v1/teams", member: "teams", pageRequest)),
            ("apps", try await count("/v1/apps?limit=1000", member: "apps", pageRequest)),
            ("certificates", certificates["certificates"]?.items?.filter(isValid).count ?? 0),
            ("keys", try await count("/v1/keys", member: "keys", pageRequest)),
            ("devices", try await count("/v1/devices?limit=1000", member: "devices", pageRequest)),
            ("service-accounts", try await count("/v1/service-accounts", member: "serviceAccounts", pageRequest)),
            ("enrolment-keys", try await count("/v1/enrolment-keys", member: "enrolmentKeys", pageRequest)),
            ("hubs", try await count("/v1/hubs", member: "hubs", pageRequest)),
        ]
        let cards = lists.map { part, count in
            [
                "name": pageRequest.texts.text("account.\(part).title"),
                "to": part == "devices" ? "/console/devices" : "/console/account/\(part)",
                "figure": pageRequest.texts.language.number(count),
                "about": pageRequest.texts.text("account.\(part).about"),
                "warning": part == "certificates" ? warning(certificates, pageRequest.texts).shown : false,
            ] as [String: Any]
        }
        return pageRequest.page(
            "account", title: pageRequest.texts.text("account.title"), section: "account",
            same: SameRequest(path: "/v1/teams", command: "team list"), ["cards": cards])
    }

    private static func count(_ path: String, member: String, _ pageRequest: PageRequest) async throws -> Int {
        (try await pageRequest.json(path)[member]?.items ?? []).filter(isValid).count
    }

    /// Whether an object was neither revoked nor has ended; those without a state are valid.
    private static func isValid(_ item: JSONValue) -> Bool {
        guard item["revokedAt"] == nil else { return false }
        return item["state"]?.text.map { !["revoked", "ended", "expired"].contains($0) } ?? true
    }

    /// How many certificates end soon or have ended; `nil` where none does.
    private static func warning(_ answer: JSONValue, _ texts: Catalogue) -> String? {
        let valid = (answer["certificates"]?.items ?? []).filter { $0["state"]?.text != "revoked" }
        let ending = (valid + (answer["server"]?.items ?? [])).filter {
            ($0["daysLeft"]?.integer ?? 0) < Int64(AccountCell.warningDays)
        }
        return ending.isEmpty ? nil : texts.text("account.certificates.ending", count: ending.count)
    }
}
