import AgentRuntime
import AldabaConfiguration
import ArgumentParser
import DeviceChannel
import Dispatch
import Foundation
import Glibc
import NIOCore
import NIOPosix
import Platform
import PostgresStore
import SQLiteStore

/// The command `aldaba`.
@main
struct Aldaba: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aldaba",
        abstract: "Run APNs and FCM on your own machine.",
        discussion: """
            Exit codes: 0 done, 1 failed, 2 usage, 3 invalid input, 4 not authorised, 5 partly done, \
            6 unreachable, 7 timed out waiting, 8 a database is missing, empty or damaged.

            EXAMPLES:
              aldaba up                             everything on this machine, with a demo app
              aldaba send --app com.example.todo --title 'Buy milk'
              aldaba get APNS-ID --timeline         how far a notification came
              aldaba notify 'Backup done'           a notification from a script
              aldaba center                         notifications and settings in the browser
              aldaba doctor                         what is missing on this machine
            """,
        version: "aldaba \(AldabaVersion.number)",
        subcommands: [
            UpCommand.self, RunCommand.self, ServeCommand.self, AgentCommand.self, ReceivedCommand.self,
            FaultCommand.self, ClockCommand.self, ResetCommand.self, NotificationsCommand.self,
            NotifyCommand.self,
            CenterCommand.self, SettingsCommand.self, SendCommand.self, GetCommand.self, ListCommand.self,
            WithdrawCommand.self, ReportCommand.self,
            ExportCommand.self, MediaCommand.self,
            DeviceCommand.self, RelayCommand.self, EnrolmentKeyCommand.self, PersonCommand.self, TeamCommand.self,
            AppCommand.self,
            KeyCommand.self,
            CertificateCommand.self,
            ServiceAccountCommand.self,
            EnvironmentCommand.self, HubCommand.self, AuditCommand.self, BackupCommand.self, RestoreCommand.self,
            MigrateCommand.self, ClusterCommand.self,
            DoctorCommand.self,
            ConfigurationPageCommand.self,
        ])

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        // A shell's background ignores SIGINT, and what it starts inherits that; Ctrl-C counts where it can be typed.
        if tcgetpgrp(STDIN_FILENO) == getpgrp() { signal(SIGINT, SIG_DFL) }
        MallocTrim.keep()
        guard CommandLine.arguments.dropFirst().first == AgentCommand.configuration.commandName else {
            Task.detached { await runCommand() }
            dispatchMain()
        }
        // Once libdispatch has had a worker, it wakes the process every second for as long as that lives. An
        // agent at rest must not wake, so its tasks run on the event loops of its network.
        NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
        Task.detached { await runCommand() }
        while true { pause() }
    }

    private static func runCommand() async {
        do {
            try SubcommandPath.check(Array(CommandLine.arguments.dropFirst()), of: Self.self)
            // In a debug build the synchronous parser reads the options of all commands first.
            var command = try await asyncParseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            Glibc.exit(CommandExit.done.rawValue)
        } catch {
            Glibc.exit(report(error).rawValue)
        }
    }

    /// The parser's help, version or completions; help is in the language of the environment.
    private static func helpMessage(for error: any Error) -> String {
        guard Terminal.texts.language != .english else { return fullMessage(for: error) }
        let message = fullMessage(for: error, columns: HelpScreen.wide)
        guard HelpScreen.isHelp(message) else { return message }
        let columns = HelpScreen.columns(environment: ProcessInfo.processInfo.environment)
        return HelpScreen.translate(message, texts: Terminal.texts, columns: columns)
    }

    /// The parser's message, about the option that does not exist where there is one.
    private static func usageMessage(_ message: String) -> String {
        guard !message.contains("Unknown option"),
            let unknown = SubcommandPath.unknownOption(Array(CommandLine.arguments.dropFirst()), of: Self.self)
        else { return NearestWord.sensible(message) }
        return "Error: \(unknown)\n" + (message.range(of: "Usage:").map { String(message[$0.lowerBound...]) } ?? "")
    }

    /// Prints the failure, and returns its exit code.
    private static func report(_ error: any Error) -> CommandExit {
        switch error {
        case let failure as CommandError:
            if !failure.description.isEmpty { Terminal.printError(failure.description) }
            return failure.exit
        case let faults as ConfigurationFaults:
            Terminal.printError("the configuration cannot be used:\n\(faults)")
            return .invalidInput
        case is ProviderKeyFile.Unreadable, is SealingKeys.Unreadable, is EncodedFile.Unusable, is MCSClientError,
            AgentStartError.socketPathTooLong:
            Terminal.printError("\(error)")
            return .invalidInput
        case let fault as DatabaseFault:
            Terminal.printError(fault.description)
            return fault.exit
        case let error as PostgresError:
            Terminal.printError("PostgreSQL cannot be used: \(error)")
            return error.isLost ? .unreachable : .failed
        default: break
        }
        let code = exitCode(for: error)
        if code.isSuccess {
            print(helpMessage(for: error))
            return .done
        }
        if code == .validationFailure {
            Terminal.write(usageMessage(fullMessage(for: error)))
            return .usage
        }
        Terminal.printError("\(error)")
        return .failed
    }
}
