import Foundation

/// One decoder's test: an input for which it traps is a fault.
protocol FuzzTest: SendableMetatype {
    static func run(_ input: UnsafeBufferPointer<UInt8>)
}

/// The program of all fuzz tests: the first argument is the name of a test, the others are those of ``FuzzRun``.
///
/// Without arguments it lists the names. `Scripts/fuzz` runs it.
@main
enum Fuzz {
    private static let tests: [any FuzzTest.Type] = always + inDebugBuilds
    private static let always: [any FuzzTest.Type] = [
        AgentWireFuzz.self, AutopushFuzz.self, BroadcastFuzz.self, CertificateFuzz.self, CheckinFuzz.self,
        ConditionFuzz.self, ContentFuzz.self,
        EncryptionFuzz.self, FCMFuzz.self, FlutterFuzz.self, FormFuzz.self, GzipFuzz.self, HeaderFuzz.self,
        HubFuzz.self,
        LegacyFrameFuzz.self, LiveActivityFuzz.self, MCSFuzz.self, ManifestFuzz.self, MediaFetchFuzz.self,
        MediaFuzz.self,
        NodeMessageFuzz.self, NoiseFuzz.self,
        PayloadFuzz.self, PayloadMarksFuzz.self, PayloadMediaFuzz.self, PlanFuzz.self,
        PositionFuzz.self, ProviderTokenFuzz.self, RelayFuzz.self, TestControlsFuzz.self, WebPushFuzz.self,
        ZoneFuzz.self,
    ]
    /// Those that look into internal parts of a target.
    private static let inDebugBuilds: [any FuzzTest.Type] = {
        #if DEBUG
            [ConsoleFuzz.self, PatternFuzz.self]
        #else
            []
        #endif
    }()

    /// The test that the first argument names.
    static let chosen = tests.first { "\($0)" == CommandLine.arguments.dropFirst().first }

    static func main() {
        guard let chosen else {
            for test in tests { print("\(test)") }
            exit(CommandLine.arguments.count > 1 ? EX_USAGE : 0)
        }
        exit(FuzzRun.run(chosen, Array(CommandLine.arguments.dropFirst(2))))
    }
}
