import AgentEngine
import CoreValues
import Foundation
import Platform

/// Opens the window of a helper program: zenity, yad or kdialog, whichever there is.
///
/// Guarantees: the program's arguments, which every user of the machine can read, contain nothing of a notification's
/// text, only those of its app's action. None of the three programs has another way to show a text beside its field. A
/// handful of windows at a time, each for ten minutes, and a text of at most 64 KiB.
package final class ProgramReplyWindow: ReplyWindow {
    private static let windowLimit = 8
    private static let timeout = Duration.seconds(600)
    private static let textLimit = 64 << 10

    /// Pixels: a sentence of some sixty characters can be seen while it is typed.
    private static let width = 560

    private let environment: [String: String]
    private let threads = BoundedThreads("aldaba-reply", limit: windowLimit)

    /// Creates a window, which looks for a helper program with each question.
    ///
    /// - Parameter environment: The agent's own; the helper program inherits it without the agent's settings.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    /// The answer is `unavailable` at once without a display, without a helper program, and while eight windows are
    /// open; closing the window or ten minutes of silence is `cancelled`.
    package func ask(_ question: ReplyQuestion, then complete: @escaping @Sendable (ReplyAnswer) -> Void) {
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else {
            return complete(.unavailable("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set"))
        }
        guard let (program, arguments) = command(for: question) else {
            return complete(.unavailable("none of zenity, yad and kdialog is installed"))
        }
        let isBegun = threads.begin({ [self] in run(program, arguments) }, then: complete)
        if !isBegun { complete(.unavailable("\(Self.windowLimit) reply windows are open already")) }
    }

    /// The program to run for a question; `nil` when there is none.
    package func command(for question: ReplyQuestion) -> (program: String, arguments: [String])? {
        func find(_ name: String) -> String? { ChildProgram.find(name, environment: environment) }
        let plain = DirectionControls.removed(from:)
        let title = "Reply to \(plain(question.appName))"
        let placeholder = plain(question.reply.placeholder)
        let text = plain(question.label) + (placeholder.isEmpty ? ":" : ": \(placeholder)")
        let submit = question.reply.submitLabel.isEmpty ? "Send" : plain(question.reply.submitLabel)
        if let zenity = find("zenity") {
            return (
                zenity,
                [
                    "--entry", "--width=\(Self.width)", "--title=\(title)", "--text=\(Self.withoutMnemonics(text))",
                    "--ok-label=\(submit)",
                ]
            )
        }
        if let yad = find("yad") {
            return (
                yad,
                [
                    "--entry", "--width=\(Self.width)", "--no-markup", "--title=\(title)", "--text=\(text)",
                    "--button=Cancel:1", "--button=\(Self.withoutSeparators(submit)):0",
                ]
            )
        }
        // kdialog names the button itself.
        return find("kdialog").map { ($0, ["--geometry", "\(Self.width)x150", "--title", title, "--inputbox", text]) }
    }

    /// yad divides a button's text at these: label, picture and tip, and the number of its answer.
    private static func withoutSeparators(_ text: String) -> String { text.filter { !"!:".contains($0) } }

    /// zenity reads an underscore as the mark of a shortcut, and a backslash as the beginning of an escape.
    private static func withoutMnemonics(_ text: String) -> String {
        text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "_", with: "__")
    }

    private func run(_ program: String, _ arguments: [String]) -> ReplyAnswer {
        let window = ChildProgram(path: program, arguments: arguments, environment: environment)
        do throws(MachineError) {
            guard let bytes = try window.run(outputLimit: Self.textLimit, timeout: Self.timeout) else {
                return .cancelled
            }
            let text = String(decoding: bytes, as: UTF8.self)
            return .text(text.hasSuffix("\n") ? String(text.dropLast()) : text)
        } catch {
            return .unavailable(error.description)
        }
    }
}
