import AldabaTestSupport
import Foundation
import Platform
import Testing

@testable import UIKit

/// Alerts share a window, so these run one after the other.
@Suite(.serialized, .timeLimit(.minutes(5))) @MainActor
struct AlertTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes a script the only helper program.
    private func install(_ name: String, _ script: String, isAlone: Bool = false) throws -> AlertWindow {
        try installScript(script, at: folder.path(name))
        return AlertWindow(environment: ["DISPLAY": ":0", "PATH": folder.url.path + (isAlone ? "" : ":/usr/bin:/bin")])
    }

    /// An alert of three actions, and what was chosen.
    private func alert(_ chosen: Inbox<String>) -> UIAlertController {
        let alert = UIAlertController(title: "Delete?", message: "It is lost.", preferredStyle: .alert)
        for (title, style) in [("Keep", UIAlertAction.Style.cancel), ("De_lete", .destructive), ("Later", .default)] {
            alert.addAction(UIAlertAction(title: title, style: style) { chosen.put($0.title ?? "") })
        }
        return alert
    }

    @Test(arguments: [
        ("exit 0", "De_lete"), ("exit 1", "Keep"), ("echo Later; exit 1", "Later"), ("kill -9 $$", "Keep"),
    ])
    func `the handler of what a person chose is called, and the alert is gone`(script: String, title: String)
        async throws
    {
        UIAlertController.window = try install("zenity", "cat > \(folder.path("text")); \(script)")
        let chosen = Inbox<String>()
        let controller = UIViewController()
        let alert = alert(chosen)
        var isPresented = false
        controller.present(alert, animated: true) { isPresented = true }
        #expect(controller.presentedViewController === alert && isPresented)
        #expect(await chosen.next() == title)
        #expect(controller.presentedViewController == nil)
        #expect(try String(contentsOfFile: folder.path("text"), encoding: .utf8) == "Delete?\n\nIt is lost.")
    }

    @Test func `an alert that the app dismisses closes its window, and no handler is called`() async throws {
        UIAlertController.window = try install(
            "zenity", "cat > /dev/null; mkfifo \(folder.path("wait")); cat \(folder.path("wait"))")
        let chosen = Inbox<String>()
        let controller = UIViewController()
        controller.present(alert(chosen), animated: false)
        controller.dismiss(animated: false)
        #expect(controller.presentedViewController == nil)
        // The next one has a window of its own.
        UIAlertController.window = try install("zenity", "cat > /dev/null")
        controller.present(alert(chosen), animated: false)
        #expect(await chosen.next() == "De_lete")
    }

    private static let question = AlertQuestion(
        title: "Delete?", message: "It is lost.", actions: ["Keep", "De_lete: now!", "Later"], cancel: 0)

    @Test(arguments: [
        ("zenity", ["--text-info", "--ok-label=De_lete: now!", "--cancel-label=Keep", "--extra-button=Later"]),
        ("yad", ["--text-info", "--button=Keep:100", "--button=De_lete now:101", "--button=Later:102"]),
        ("kdialog", ["--menu", "Delete?\n\nIt is lost.", "0", "Keep", "1", "De_lete: now!", "2", "Later"]),
    ])
    func `each program is asked in its own way, and only kdialog's arguments have the text`(
        program: String, arguments: [String]
    ) throws {
        let command = try #require(try install(program, "", isAlone: true).command(for: Self.question))
        #expect(command.program == folder.path(program) && Set(command.arguments).isSuperset(of: arguments))
        #expect(command.input == (program == "kdialog" ? nil : "Delete?\n\nIt is lost."))
        #expect(command.arguments.contains { $0.contains("lost") } == (program == "kdialog"))
    }

    @Test func `an only action has a button, and stands for closing`() throws {
        let question = AlertQuestion(actions: ["OK"], cancel: 0)
        let command = try #require(try install("zenity", "").command(for: question))
        #expect(Set(command.arguments).isSuperset(of: ["--ok-label=OK", "--cancel-label=Close"]))
        #expect(AlertWindow.answer(of: .wrote(Data()), to: question) == .chosen(0))
    }

    @Test(arguments: [
        (ChildProgram.Run.wrote(Data("2\n".utf8)), AlertAnswer.chosen(2)), (.wrote(Data()), .chosen(1)),
        (.failed(.exited(101), output: Data()), .chosen(1)), (.failed(.exited(252), output: Data()), .chosen(0)),
        (.failed(.exited(1), output: Data("Later\n".utf8)), .chosen(2)), (.unwanted, .closed),
    ])
    func `a program's end is an answer`(run: ChildProgram.Run, answer: AlertAnswer) {
        #expect(AlertWindow.answer(of: run, to: Self.question) == answer)
    }

    @Test(
        arguments: [([], AlertAnswer.closed), (["OK"], .chosen(0)), (["A", "B"], .closed)] as [([String], AlertAnswer)])
    func `closing the window is the action that cancels, or the only one`(actions: [String], answer: AlertAnswer) {
        let question = AlertQuestion(actions: actions)
        #expect(AlertWindow.answer(of: .failed(.exited(1), output: Data()), to: question) == answer)
    }

    @Test func `an action that is not enabled is not offered`() async throws {
        UIAlertController.window = try install("zenity", "cat > /dev/null; exit 1")
        let chosen = Inbox<String>()
        let alert = alert(chosen)
        alert.actions[0].isEnabled = false
        alert.actions[1].isEnabled = false
        UIViewController().present(alert, animated: true)
        #expect(await chosen.next() == "Later")
        #expect(alert.actions.map(\.title) == ["Keep", "De_lete", "Later"] && alert.preferredStyle == .alert)
        #expect(alert.actions.map(\.style) == [.cancel, .destructive, .default] && alert.message == "It is lost.")
    }

    @Test func `without a display or a program it is said why`() async throws {
        for environment in [["PATH": "/usr/bin"], ["DISPLAY": ":0", "PATH": folder.url.path]] {
            let answers = Inbox<AlertAnswer>()
            AlertWindow(environment: environment).ask(Self.question, unlessEnded: try WakeUp()) { answers.put($0) }
            guard case .unavailable? = await answers.next() else {
                Issue.record("a window was opened")
                return
            }
        }
    }
}
