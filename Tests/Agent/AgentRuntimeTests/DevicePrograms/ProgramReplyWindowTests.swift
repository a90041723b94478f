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
    private let question = ReplyQuestion(
        appName: "to_\u{202E}do", label: "No_te", reply: .init(placeholder: "What?", submitLabel: "Keep: it!"))

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
        ("zenity", ["--title=Reply to to_do", "--text=No__te: What?", "--ok-label=Keep: it!"]),
        ("yad", ["--title=Reply to to_do", "--text=No_te: What?", "--button=Cancel:1", "--button=Keep it:0"]),
        ("kdialog", ["--title", "Reply to to_do", "--inputbox", "No_te: What?"]),
    ])
    func `each program is asked in its own way, with the texts of the app's action`(
        program: String, arguments: [String]
    ) throws {
        let folder = try folder(with: [program: ""])
        let command = try #require(
            ProgramReplyWindow(environment: ["DISPLAY": ":0", "PATH": folder.url.path]).command(for: question))
        #expect(command.program == folder.path(program) && Set(command.arguments).isSuperset(of: arguments))
    }

    @Test func `a button without a text is called Send`() throws {
        let folder = try folder(with: ["zenity": ""])
        let window = ProgramReplyWindow(environment: ["DISPLAY": ":0", "PATH": folder.url.path])
        let bare = ReplyQuestion(appName: "Todo", label: "Note", reply: .init(placeholder: "", submitLabel: ""))
        let arguments = try #require(window.command(for: bare)).arguments
        #expect(arguments.contains("--ok-label=Send") && arguments.contains("--text=Note:"))
    }
}
