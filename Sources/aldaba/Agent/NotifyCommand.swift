import AgentEngine
import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation
import Glibc
import Platform
import RelayAgent

/// `aldaba notify`: a notification from a shell script, with buttons, a reply, and the answer.
struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Show a notification, and print its outcome.",
        discussion: """
            It prints the notification's id, by which a later one takes its place. With --wait the command ends when \
            somebody has answered. Then it prints the button's id, `open` for a click on the notification itself, or \
            `dismiss`; a reply's text follows on the next line.

            With --in, --at, --every or --near it appears then, whether this machine was off meanwhile or not, and the \
            command prints its id and when it comes; `aldaba notifications pending` shows all that wait, at most 64 of \
            terminals, `aldaba notifications cancel` takes them back. --at takes 09:30, "2026-12-24 18:00" or \
            2026-12-24T18:00+01:00; --every takes 90m, hour, or with --at day or a day of the week. What was missed by \
            more than a day is dropped: `aldaba settings aldaba.notify missed-hours=72` keeps it for longer.

            EXAMPLES:
              aldaba notify 'Backup done'
              aldaba notify 'Deploy?' --button yes=Deploy --button no=Wait --wait
              aldaba notify 'Stand up' --every 50m
              aldaba notify Meeting --every monday --at 09:55
              aldaba notify 'Take it out' --in 1h30
              aldaba notify 'Deploy?' --button yes=Deploy --on laptop --wait
              aldaba notify -u critical -A yes=Deploy -A no=Wait 'Deploy?'
            """,
        // `-h` is a hint, as for notify-send.
        helpNames: .long)
    @Argument(help: "The title.") var title: String
    @Argument(help: "The text.") var body: String = ""
    @Option(help: "A line between the two.") var subtitle: String = ""
    @Option(help: ArgumentHelp("A button; may be repeated.", valueName: "id=label")) var button: [String] = []
    @Option(help: ArgumentHelp("A button that asks for text; may be repeated.", valueName: "id=label"))
    var reply: [String] = []
    @Option(help: "The placeholder of the reply field.") var placeholder: String = ""
    @Option(help: "passive, active, time-sensitive or critical.") var level: String = "active"
    @Option(help: "A picture to show beside the text.") var image: String?
    @Option(help: "A later notification with the same id takes this one's place.") var id: String?
    @Option(help: ArgumentHelp("Show it after a while, such as 10m or 1h30m.", valueName: "span")) var `in`: String?
    @Option(help: ArgumentHelp("Show it at a time.", valueName: "time")) var at: String?
    @Option(help: ArgumentHelp("Show it again and again.", valueName: "span or day")) var every: String?
    @Option(help: "The time zone of --at (default: wherever this machine is then).") var zone: String?
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Show it near a place.", valueName: "latitude,longitude,metres"))
    var near: String?
    @Flag(help: "With --near: on leaving the place.") var leaving = false
    @Flag(help: "Play the default sound.") var sound = false
    @Flag(name: [.customShort("w"), .long], help: "Wait for the answer.") var wait = false
    @Option(help: "The seconds to wait for the answer (exit code 7 after that).") var timeout: Double?
    @Option(
        name: .customLong("on"),
        help: "Show it on another of your devices, by id or name; the answer comes from there.")
    var device: String?
    @Flag(help: "Print the answer, or what waits, as a JSON object.") var json = false
    @OptionGroup(title: "Options of notify-send") var notifySend: NotifySendOptions
    @OptionGroup var agent: AgentOption

    func run() throws {
        var timeout = timeout
        if timeout == nil, wait || !notifySend.action.isEmpty, let milliseconds = notifySend.expireTime,
            milliseconds > 0
        {
            timeout = Double(milliseconds) / 1000
        }
        if let timeout, !(0...1_000_000).contains(timeout) {
            throw CommandError(.usage, "--timeout must be a number of seconds from 0 to 1000000")
        }
        let words = TriggerArguments(at: at, every: every, in: `in`, near: near, isLeaving: leaving, zone: zone)
        let request = NotificationRequest(
            identifier: id ?? notifySend.replaceID ?? UUID().uuidString.lowercased(), content: try content(),
            trigger: try words.trigger())
        let waits = wait || timeout != nil || !notifySend.action.isEmpty
        guard !waits || request.trigger == nil else {
            throw CommandError(.usage, "--wait and --timeout need a notification that appears at once")
        }
        guard request.trigger == nil || request.content.actions.isEmpty else {
            throw CommandError(
                .usage, "--button and --reply need a notification that appears at once: nobody hears a later answer")
        }
        if let device {
            guard request.trigger == nil, id == nil, notifySend.replaceID == nil else {
                throw CommandError(
                    .usage, "--on shows a new notification at once: without --id, --in, --at, --every and --near")
            }
            let answer = try Self.show(
                request.content, on: device, within: waits ? timeout ?? Double(NotifyService.longestWait) : nil,
                agent: agent)
            if let answer { try show(answer.action, answer.text, id: request.identifier) }
            return
        }
        let client = try agent.connect()
        if waits, timeout == nil { try Self.checkAnswerable(client) }
        if waits, notifySend.printsID {
            print(TerminalText.line(request.identifier))
            // The answer may come much later.
            fflush(nil)
        }
        let answer = try ask(client, .notify(request, waits: waits), waits: waits, timeout: timeout)
        if request.content.interruptionLevel == .critical { try Self.warnOfLevel(client) }
        if case .pending(let waiting, _) = answer {
            if near != nil { try Self.warnOfPlace(client) }
            return json ? print(try JSONLine.of(waiting.first)) : waiting.forEach { $0.show() }
        }
        guard case .answered(let action, let text) = answer else {
            return print(json ? try JSONLine.of(Shown(id: request.identifier)) : TerminalText.line(request.identifier))
        }
        let word =
            switch action {
            case NotificationAction.open: "open"
            case NotificationAction.dismiss: "dismiss"
            default: action
            }
        try show(word, text, id: request.identifier)
    }

    /// Asks the agent. Where nobody has answered in time since there is no screen, the error says that.
    private func ask(
        _ client: AgentClient, _ request: ManagementCommand, waits: Bool, timeout: Double?
    ) throws -> ManagementAnswer {
        do { return try client.ask(request, within: waits ? timeout : 10) } catch let error as CommandError
            where waits && error.exit == .timedOut
        {
            // By another connection: this one may still get the answer that it waited for.
            guard case .status(let status) = try agent.connect().ask(.status), !status.hasScreen else { throw error }
            throw CommandError(
                .timedOut,
                "nobody answered in time: the agent has no screen, for it runs without a desktop's session bus. `aldaba "
                    + "notifications act` and `open` can answer")
        }
    }

    private func show(_ answer: String, _ text: String?, id: String) throws {
        if json { return print(try JSONLine.of(Answer(id: id, action: answer, text: text))) }
        print(TerminalText.line(answer))
        if let text { print(TerminalText.lines(text)) }
    }

    /// Refuses to wait without end where there is nobody who could answer.
    private static func checkAnswerable(_ client: AgentClient) throws {
        guard case .status(let status) = try client.ask(.status), !status.hasScreen else { return }
        throw CommandError(
            .failed,
            "nobody could answer: the agent has no screen, for it runs without a desktop's session bus. With --timeout "
                + "SECONDS it waits for an answer by `aldaba notifications act` or `open`")
    }

    /// Warns where notifications of terminals may not be critical.
    private static func warnOfLevel(_ client: AgentClient) throws {
        guard case .settings(let settings) = try client.ask(.settings(app: AppManifest.terminalID)),
            settings.contains(where: { $0.name == "critical" && $0.value == "off" })
        else { return }
        Terminal.printError(
            "warning: it appears like any other, for notifications of terminals may not be critical; `aldaba settings "
                + "\(AppManifest.terminalID) critical=on` allows it")
    }

    /// Warns when no position source is configured, or when the source has a fault.
    private static func warnOfPlace(_ client: AgentClient) throws {
        // A position source that is asked for the first time may need a moment to report a failure.
        for attempt in 0..<10 {
            guard case .status(let status) = try client.ask(.status), let position = status.position else { return }
            guard position.source != nil else {
                return Terminal.printError(
                    "warning: nobody tells where this machine is, so this waits for ever; start the agent with "
                        + "--position geoclue, file:PATH or command:COMMAND")
            }
            if let fault = position.fault {
                return Terminal.printError(
                    "warning: where this machine is, is not known, and this waits until it is: \(fault)")
            }
            if position.isKnown { return }
            if attempt < 9 {
                var none: [pollfd] = []
                Pause.poll(&none, until: ContinuousClock.now + .milliseconds(100))
            }
        }
    }

    private struct Shown: Encodable { var id: String }

    private struct Answer: Encodable {
        var id: String
        var action: String
        var text: String?
    }

    private func content() throws -> NotificationContent {
        guard let level = try notifySend.level() ?? NotificationContent.InterruptionLevel(rawValue: level) else {
            let names = NotificationContent.InterruptionLevel.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError(.usage, "--level must be one of: \(names)")
        }
        var content = NotificationContent()
        content.title = title
        content.subtitle = subtitle.isEmpty ? notifySend.appName ?? "" : subtitle
        content.body = body
        content.interruptionLevel = level
        if try notifySend.sounds() ?? sound { content.sound = NotificationSound() }
        content.actions = try (button + notifySend.buttons).map { try Self.action($0) }
        content.actions += try reply.map { text in
            var action = try Self.action(text)
            action.textInput = .init(buttonTitle: action.title, placeholder: placeholder)
            return action
        }
        if let image = try image ?? notifySend.picture() {
            let path = URL(fileURLWithPath: image).path
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw CommandError(.invalidInput, "there is no picture \(image)")
            }
            content.attachments = [NotificationAttachment(identifier: "image", path: path, type: "public.image")]
        }
        return content
    }

    private static func action(_ text: String) throws -> NotificationActionDescription {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let id = parts.first, let label = parts.last, !id.isEmpty, !label.isEmpty, id != "open",
            id != "dismiss"
        else {
            throw CommandError(.usage, "\(text) is not id=label, with an id other than open and dismiss")
        }
        return NotificationActionDescription(identifier: id, title: label)
    }
}
