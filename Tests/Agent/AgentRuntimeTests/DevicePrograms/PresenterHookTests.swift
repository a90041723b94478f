import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentRuntime

/// The program that is told of notifications where there is no screen.
@Suite(.timeLimit(.minutes(5))) struct PresenterHookTests {
    static let scripts: [(script: String, isShown: Bool)] = [
        (#"cat > "$HOOK_OUTPUT"; printf %s "${ALDABA_X-none}" > "$HOOK_OUTPUT.setting""#, true), ("exit 3", false),
    ]

    private func presentation(_ id: Int64) -> Presentation {
        Presentation(
            notification: NotificationID(rawValue: id), app: "com.example.todo", appName: "Todo", identifier: "milk",
            title: "Milk", body: "Two “litres”")
    }

    @Test(arguments: scripts.indices)
    func `it gets the notification and none of the agent's settings, and its status says whether it was shown`(
        index: Int
    ) async throws {
        let folder = try TemporaryFolder()
        let program = folder.path("hook")
        try installScript(Self.scripts[index].script, at: program)
        let hook = PresenterHook(
            path: program,
            environment: ["HOOK_OUTPUT": folder.path("told"), "PATH": "/usr/bin:/bin", "ALDABA_X": "secret"])
        let outcome = await withCheckedContinuation { continuation in
            hook.run(presentation(7)) { continuation.resume(returning: $0) }
        }
        guard Self.scripts[index].isShown else {
            guard case .failed = outcome else {
                Issue.record("\(outcome)")
                return
            }
            return
        }
        #expect(outcome == .presented(handle: nil, note: "told \(program)"))
        let told = try #require(FileManager.default.contents(atPath: folder.path("told")))
        let object = try #require(try JSONSerialization.jsonObject(with: told) as? [String: Any])
        #expect(object["title"] as? String == "Milk" && object["body"] as? String == "Two “litres”")
        #expect(object["notification"] as? Int == 7 && object["urgency"] as? String == "normal")
        #expect(FileManager.default.contents(atPath: folder.path("told.setting")) == Data("none".utf8))
    }

    /// A run says that it begins, waits for a byte, and says that it ends.
    private static let gated = """
        echo begins >> "$HOOK_OUTPUT"
        dd bs=1 count=1 of=/dev/null < "$HOOK_GATE" 2> /dev/null
        echo ends >> "$HOOK_OUTPUT"
        """

    @Test func `eight run at a time, the others wait for their turn, and what is too much is refused`() async throws {
        let folder = try TemporaryFolder()
        let (program, gate) = (folder.path("hook"), folder.path("gate"))
        try installScript(Self.gated, at: program)
        try #require(mkfifo(gate, 0o600) == 0)
        // Open at both ends, so that neither a run nor this test waits for the other to open it.
        let opener = open(gate, O_RDWR | O_CLOEXEC)
        defer { close(opener) }
        let hook = PresenterHook(
            path: program,
            environment: ["HOOK_OUTPUT": folder.path("told"), "HOOK_GATE": gate, "PATH": "/usr/bin:/bin"])
        let (outcomes, continuation) = AsyncStream.makeStream(of: (Int64, PresentationOutcome).self)
        let most = PresenterHook.limit + PresenterHook.waitingLimit
        for number in 1...Int64(most + 1) {
            hook.run(presentation(number)) { continuation.yield((number, $0)) }
        }
        var answers = outcomes.makeAsyncIterator()
        let refused = try #require(await answers.next())
        #expect(refused.0 == Int64(most + 1))
        #expect(refused.1 == .failed(reason: "32 notifications wait for runs of \(program) already"))
        #expect(write(opener, [UInt8](repeating: 1, count: most), most) == most)
        var shown: Set<Int64> = []
        while shown.count < most, let (number, outcome) = await answers.next() {
            #expect(outcome == .presented(handle: nil, note: "told \(program)"))
            #expect(shown.insert(number).inserted)
        }
        let told = try #require(FileManager.default.contents(atPath: folder.path("told")))
        var running = 0
        for line in String(decoding: told, as: UTF8.self).split(separator: "\n") {
            running += line == "begins" ? 1 : -1
            #expect(running <= PresenterHook.limit)
        }
        #expect(running == 0)
    }
}
