import APNsProtocol
import FCMProtocol
import PushCore
import PushServer
import Testing
import Texts

@testable import Console

@Suite struct OutcomeTests {
    /// Each state, with each argument that has a text of its own.
    private static let states: [NotificationState] =
        [
            .accepted, .stored, .sent, .acked, .decrypted, .presented, .unanswered, .handed, .opened, .action("reply"),
            .dismissed, .expired, .replaced, .withdrawn, .failed("appCrashed"), .failed("noReceiver"),
            .failed("NotShown"), .extended("noExtension"), .extended("notAsked"),
        ]
        + NotificationState.Suppression.allCases.map(NotificationState.suppressed)
        + NotificationState.DropReason.allCases.map(NotificationState.dropped)
        + failures.map(NotificationState.undecryptable)
        + ExtensionOutcome.allCases.map { .extended($0.text(milliseconds: 412)) }
        + APNsReason.allCases.map { .failed($0.rawValue) }
        + (FCMErrorCode.allCases.map(\.rawValue) + FCMStatus.allCases.map(\.rawValue)).map(NotificationState.failed)

    private static let failures = [
        DecryptionError.malformed, .truncated, .recordSize(declared: 1, carried: 2), .senderKey, .noKey,
        .unknownKey("k"), .wrongKey, .padding, .notAnObject, .replayed(of: "1"),
    ].map(\.code)

    /// The states that leave nothing to be done.
    private static let isDone: Set<String> = [
        "accepted", "decrypted", "presented", "handed", "opened", "action(reply)", "dismissed", "withdrawn",
        "extended(changed, 412 ms)", "extended(unchanged, 412 ms)",
    ]

    @Test(arguments: Language.allCases)
    func `each state has an explanation, and advice where something is to be done`(_ language: Language) {
        let texts = Catalogue.of(language)
        for state in Self.states {
            let outcome = Outcome(state: state.text)
            let why = outcome.why(texts)
            #expect(why != outcome.name && why.hasSuffix("."), "\(state.text) has no explanation")
            #expect((outcome.advice(texts) == nil) == Self.isDone.contains(state.text), "\(state.text)")
        }
    }

    @Test(arguments: Language.allCases)
    func `each reason is explained by its own sentence`(_ language: Language) {
        let texts = Catalogue.of(language).texts
        for state in Self.states {
            let outcome = Outcome(state: state.text)
            guard let argument = outcome.argument, outcome.name != "action" else { continue }
            let code = argument.prefix { $0 != "," }
            #expect(texts["why.\(outcome.name).\(code)"] != nil, "why.\(outcome.name).\(code) is missing")
        }
    }

    @Test(arguments: Language.allCases)
    func `an unknown reason is named`(_ language: Language) {
        let texts = Catalogue.of(language)
        for state in ["failed(NewReason)", "extended(newOutcome)", "undecryptable(newCode)", "action(later)"] {
            let outcome = Outcome(state: state)
            #expect(outcome.why(texts).contains(outcome.argument ?? "-"))
        }
        #expect(Outcome(state: "invented").why(texts) == "invented")
    }

    @Test(
        arguments: [
            ([.accepted, .sent, .acked, .presented, .handed], .presented),
            ([.accepted, .sent, .acked, .suppressed(.settings), .handed], .suppressed(.settings)),
            ([.accepted, .sent, .suppressed(.settings), .acked], .suppressed(.settings)),
            ([.accepted, .sent, .acked, .suppressed(.settings), .unanswered], .suppressed(.settings)),
            ([.accepted, .sent, .acked, .presented, .unanswered], .unanswered),
            ([.accepted, .sent, .acked, .presented, .handed, .opened], .opened),
            ([.accepted, .sent, .acked, .handed], .handed), ([.accepted], .accepted),
        ] as [([NotificationState], NotificationState)])
    func `a notification ends as its device said, else as its last line`(
        states: [NotificationState], outcome: NotificationState
    ) {
        let lines = states.map { TimelineEntry(at: Timestamp(rawValue: 0), state: $0, source: .agent) }
        #expect(TimelineEntry.outcome(of: lines)?.state == outcome)
        let json = states.map { JSONValue.object([.init("state", .string($0.text))]) }
        #expect(Outcome.decisive(json)?["state"]?.text == outcome.text)
    }

    @Test func `every key of an explanation is that of a state`() {
        let known = Set(
            Self.states.flatMap { state in
                let outcome = Outcome(state: state.text)
                return [outcome.name, "\(outcome.name).\((outcome.argument ?? "").prefix { $0 != "," })"]
            })
        for key in Catalogue.of(.english).texts.keys where key.hasPrefix("why.") || key.hasPrefix("advice.") {
            #expect(known.contains(String(key.drop { $0 != "." }.dropFirst())), "\(key) belongs to no state")
        }
    }
}
