import AldabaConfiguration
import PushCore
import PushServer
import Testing

/// How teams and environments are shown.
@Suite struct RegisterViewTests {
    private let now = Timestamp(seconds: 1_780_272_000)

    @Test func `a team is listed by its name or by what it owns`() {
        let (harbour, other) = (TeamID(rawValue: "HARBOUR001"), TeamID(rawValue: "ANOTHER001"))
        let views = TeamView.all(
            named: [RegisteredTeam(id: harbour, name: "Harbour\u{1b}[2J", createdAt: now)],
            apps: [
                RegisteredApp(
                    id: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.a"), team: other,
                    policy: MailboxPolicy())
            ],
            keys: [ProviderKey(keyID: KeyID(rawValue: "KEY1234567"), team: harbour, publicKeyPEM: "", createdAt: now)],
            certificates: [],
            serviceAccounts: [
                ServiceAccount(keyID: "a", team: harbour, email: "one@harbour001", publicKeyPEM: "", createdAt: now),
                ServiceAccount(
                    keyID: "b", team: other, email: "old@another001", publicKeyPEM: "", createdAt: now, revokedAt: now),
            ])
        #expect(views.map(\.serviceAccounts) == [[], ["one@harbour001"]])
        #expect(views.map(\.projectId) == ["another001", "harbour001"])
        #expect(views.map(\.teamId) == ["ANOTHER001", "HARBOUR001"])
        #expect(views.map(\.apps) == [["com.example.a"], []])
        #expect(views.map(\.keys) == [[], ["KEY1234567"]])
        #expect(views[0].lines == ["ANOTHER001  (without a name)", "  app com.example.a"])
        #expect(!views[1].lines.joined().contains("\u{1b}"))
    }

    @Test func `an environment has an address while a server has it`() {
        let running = ServerAddresses(
            process: 1, host: "::1", apnsPort: 2, devicePort: 3, controlPort: 4, httpPort: nil, metricsPort: 5,
            environment: "sandbox")
        #expect(EnvironmentView(.sandbox, running: running).address == "https://[::1]:2")
        #expect(EnvironmentView(.production, running: running).address == nil)
        #expect(EnvironmentView(.sandbox, running: nil).address == nil)
        #expect(EnvironmentView(.sandbox, running: nil).entitlement == "development")
        #expect(EnvironmentView(.production, running: nil).insteadOf == "api.push.apple.com")
    }
}
