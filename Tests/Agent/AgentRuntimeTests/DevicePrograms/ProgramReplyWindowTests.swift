import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Testing

@testable import AgentRuntime

struct ProgramReplyWindowTests {
    private func folder(with programs: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, script) in programs { try installScript(script, at: folder.path(name)) }
        return folder
    }

    /// The name changes the direction of what follows it, which no window may show.
    private let question = ReplyQuestion(appName: "to_\u{202E}do")

    private func answer(_ window: ProgramReplyWindow) async -> ReplyAnswer {
        await withCheckedContinuation { continuation in window.ask(question) { continuation.resume(returning: $0) } }
    }

    @Test(arguments: [
        ("printf 'on my way\\n'", ReplyAnswer.text("on my way")), ("printf '\\n'", .text("")), ("exit 1", .cancelled),
        ("kill -9 $$", .cancelled),
    ])
    func `what the program says is the answer`(script: String, expected: ReplyAnswer) async throws {
        let folder = try folder(with: ["zenity": script])
        let given = await answer(
            ProgramReplyWindow(environment: ["DISPLAY": ":0", "PATH": folder.url.path + ":/usr/bin:/bin"]))
        #expect(given == expected)
    }

    @Test func `without a display it is said`() async throws {
        guard case .unavailable(let reason) = await answer(ProgramReplyWindow(environment: ["PATH": "/usr/bin"])) else {
            Issue.record("a window was opened")
            return
        }
        #expect(reason.contains("DISPLAY"))
    }

    @Test func `without a program it is said`() async throws {
        let folder = try folder(with: [:])
        guard
            case .unavailable = await answer(
                ProgramReplyWindow(environment: ["DISPLAY": ":0", "PATH": folder.url.path]))
        else {
            Issue.record("a window was opened")
            return
        }
    }

    @Test(arguments: [
        ("zenity", "--text=Your reply to to__do:"), ("yad", "--text=Your reply to to_do:"),
        ("kdialog", "Your reply to to_do:"),
    ])
    func `each program is asked in its own way`(program: String, text: String) throws {
        let folder = try folder(with: [program: ""])
        let command = try #require(
            ProgramReplyWindow(environment: ["DISPLAY": ":0", "PATH": folder.url.path]).command(for: question))
        #expect(command.program == folder.path(program) && command.arguments.contains(text))
    }
}
