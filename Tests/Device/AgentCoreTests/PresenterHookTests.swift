import AldabaTestSupport
import Foundation
import PushModel
import Testing

@testable import AgentCore

/// The program that is told of notifications where there is no screen.
struct PresenterHookTests {
    static let scripts: [(script: String, isShown: Bool)] = [("cat > \"$HOOK_OUTPUT\"", true), ("exit 3", false)]

    @Test(arguments: scripts.indices)
    func `it gets the notification, and its status says whether it was shown`(index: Int) async throws {
        let folder = try TemporaryFolder()
        let program = folder.path("hook")
        try installScript(Self.scripts[index].script, at: program)
        let hook = PresenterHook(
            path: program,
            environment: ["HOOK_OUTPUT": folder.path("told"), "PATH": "/usr/bin:/bin", "ALDABA_X": "secret"])
        let presentation = Presentation(
            notification: NotificationID(rawValue: 7), app: "com.example.todo", appName: "Todo", identifier: "milk",
            title: "Milk", body: "Two “litres”")
        let outcome = await withCheckedContinuation { continuation in
            hook.run(presentation) { continuation.resume(returning: $0) }
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
    }
}
