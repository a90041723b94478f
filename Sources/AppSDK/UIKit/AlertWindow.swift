import Foundation
import Platform

/// The texts of an alert, as a person sees it.
struct AlertQuestion: Hashable, Sendable {
    var title = ""
    var message = ""
    /// The titles of the actions that can be chosen, in their order.
    var actions: [String] = []
    /// The index of the action that leaves everything as it is.
    var cancel: Int?

    /// The action that stands for closing the window: the one that cancels, or the only one.
    var closing: Int? { cancel ?? (actions.count == 1 ? 0 : nil) }
    /// The action of the first button: one that does not cancel, where there is one.
    var main: Int? { actions.indices.first { $0 != cancel } ?? cancel }
    /// Title and message, each where there is one.
    var text: String { [title, message].filter { !$0.isEmpty }.joined(separator: "\n\n") }
}

/// The outcome of an alert.
enum AlertAnswer: Hashable, Sendable {
    /// A person chose this action.
    case chosen(Int)
    /// The window was closed, by a person or by the app.
    case closed
    /// No window can be opened, and why.
    case unavailable(String)
}

/// Opens alerts in the window of a helper program: zenity, yad or kdialog, whichever there is.
///
/// Guarantees: zenity and yad read the text from their standard input, so that no other user of the machine can read
/// it among a program's arguments. kdialog has no such option. Four windows at a time, each for a day at most.
final class AlertWindow: Sendable {
    private static let windowLimit = 4
    private static let timeout = Duration.seconds(86_400)
    /// Bytes of a text; a pipe holds 64 KiB.
    private static let textLimit = 32_768
    /// yad's answers from here on are ours: those below, and from 252 on, are its own.
    private static let firstStatus: Int32 = 100

    private let environment: [String: String]
    private let threads = BoundedThreads("aldaba-alert", limit: windowLimit)

    /// Creates a window, which looks for a helper program with each alert.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    /// A program, its arguments and its standard input.
    struct Command: Hashable, Sendable {
        var program: String
        var arguments: [String]
        var input: String?
    }

    /// Opens a window; `complete` is called once, on any thread.
    ///
    /// - Parameter wish: Closes the window when it is signalled.
    func ask(
        _ question: AlertQuestion, unlessEnded wish: WakeUp, then complete: @escaping @Sendable (AlertAnswer) -> Void
    ) {
        guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else {
            return complete(.unavailable("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set"))
        }
        guard let command = command(for: question) else {
            return complete(.unavailable("none of zenity, yad and kdialog is installed"))
        }
        let isBegun = threads.begin({ [self] in run(command, for: question, unlessEnded: wish) }, then: complete)
        if !isBegun { complete(.unavailable("\(Self.windowLimit) alerts are open already")) }
    }

    /// The program to run for an alert; `nil` where there is none.
    func command(for question: AlertQuestion) -> Command? {
        func find(_ name: String) -> String? { ChildProgram.find(name, environment: environment) }
        let input = String(decoding: question.text.utf8.prefix(Self.textLimit), as: UTF8.self)
        let window = ["--width=420", "--height=180", "--title=\(ProcessInfo.processInfo.processName)"]
        if let zenity = find("zenity") {
            let labels = question.actions
            let cancel = question.cancel == question.main ? nil : question.cancel
            let chosen = question.main.map { ["--ok-label=\(labels[$0])"] } ?? []
            let cancelled = ["--cancel-label=\(cancel.map { labels[$0] } ?? "Close")"]
            let further = question.actions.indices.filter { $0 != question.main && $0 != cancel }.map {
                "--extra-button=\(Self.withoutMnemonics(labels[$0]))"
            }
            return Command(
                program: zenity, arguments: ["--text-info"] + window + chosen + cancelled + further, input: input)
        }
        if let yad = find("yad") {
            let buttons = question.actions.enumerated().map {
                "--button=\($1.filter { !"!:".contains($0) }):\(Self.firstStatus + Int32($0))"
            }
            return Command(program: yad, arguments: ["--text-info", "--wrap"] + window + buttons, input: input)
        }
        return find("kdialog").map { kdialog in
            let choices = question.actions.enumerated().flatMap { ["\($0)", $1] }
            return Command(
                program: kdialog,
                arguments: ["--title", ProcessInfo.processInfo.processName, "--menu", input] + choices)
        }
    }

    /// zenity reads an underscore as the mark of a shortcut, in further buttons alone.
    private static func withoutMnemonics(_ text: String) -> String {
        text.replacingOccurrences(of: "_", with: "__")
    }

    private func run(_ command: Command, for question: AlertQuestion, unlessEnded wish: WakeUp) -> AlertAnswer {
        let window = ChildProgram(path: command.program, arguments: command.arguments, environment: environment)
        do throws(MachineError) {
            let run = try window.runToEnd(
                input: command.input.map { Data($0.utf8) }, outputLimit: 64 << 10, timeout: Self.timeout,
                unlessEnded: wish)
            return Self.answer(of: run, to: question)
        } catch {
            return .unavailable(error.description)
        }
    }

    /// The meaning of a program's end. zenity writes the label of a further button, and kdialog the number of a choice;
    /// yad ends with a number, and the others by 0 for the first action that does not cancel.
    static func answer(of run: ChildProgram.Run, to question: AlertQuestion) -> AlertAnswer {
        func line(_ output: Data) -> String {
            String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
        }
        switch run {
        case .wrote(let output):
            if let number = Int(line(output)), question.actions.indices.contains(number) { return .chosen(number) }
            return question.main.map { .chosen($0) } ?? .closed
        case .failed(.exited(let status), _) where question.actions.indices.contains(Int(status - firstStatus)):
            return .chosen(Int(status - firstStatus))
        case .failed(_, let output):
            let label = line(output)
            let further = question.actions.firstIndex { withoutMnemonics($0) == label }
            return (label.isEmpty ? question.closing : further ?? question.closing).map { .chosen($0) } ?? .closed
        case .unwanted, .tookTooLong, .wroteTooMuch: return .closed
        }
    }
}
