import AldabaConfiguration
import Foundation
import Glibc
import Platform

/// The namespaces in which `aldaba run` starts a command: user, network, mounts and processes (namespaces(7)).
///
/// This process stays outside. When it ends, however that may be, the pipe to the process inside ends, and with that
/// process the kernel ends all others of the namespace.
enum RunNamespace {
    /// The variable by which the program knows that it is inside.
    static let variable = "ALDABA_RUN_INSIDE"
    /// The descriptor of the process inside from which it reads signals to pass on, a byte each.
    static let signals: Int32 = 3

    private static let options = [
        "--user", "--map-current-user", "--keep-caps", "--net", "--mount", "--pid", "--fork", "--kill-child",
        "--mount-proc",
    ]

    /// Runs this program with the same arguments inside new namespaces, until its end.
    ///
    /// - Parameters:
    ///   - isPlain: Whether it runs in the namespaces of this process.
    ///   - allowsNetwork: Whether the new network is connected with this machine's.
    static func enter(isPlain: Bool, allowsNetwork: Bool, environment: [String: String]) throws -> ProgramEnd {
        let connector = allowsNetwork ? try NetworkConnector(environment: environment) : nil
        let prefix = isPlain ? [] : try namespaces(environment: environment)
        guard let program = realpath("/proc/self/exe", nil) else {
            throw CommandError(.failed, "/proc/self/exe cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { free(program) }
        var inside = environment
        inside[variable] = "1"
        var pipe = try PipeEnds()
        defer { pipe.close() }
        let arguments = prefix + [String(cString: program)] + CommandLine.arguments.dropFirst()
        let pid = try ChildProgram(path: arguments[0], arguments: Array(arguments.dropFirst()), environment: inside)
            .startBeside(further: pipe.reading)
        passSignals(to: pipe.writing)
        let connection = try connector?.connect(pid)
        defer { connection?.end() }
        return ChildProgram.reap(pid)
    }

    /// The arguments before a program by which it gets namespaces of its own.
    private static func namespaces(environment: [String: String]) throws -> [String] {
        guard let unshare = ChildProgram.find("unshare", environment: environment) else {
            throw CommandError(.failed, "the program unshare is missing; Debian's package util-linux has it")
        }
        let trial = ChildProgram(path: unshare, arguments: options + ["--", "/bin/true"], environment: environment)
        guard try trial.run(timeout: .seconds(10)) != nil else { throw refusal }
        return [unshare] + options + ["--"]
    }

    private static var refusal: CommandError {
        CommandError(
            .failed,
            """
            this system gives no namespaces to its users, which `aldaba run` needs. An administrator allows them by \
            `sysctl -w kernel.unprivileged_userns_clone=1` (Debian) or \
            `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu). Without them, \
            `aldaba run --ports` has a server whose addresses the command finds in ALDABA_APNS, ALDABA_FCM and ALDABA_HTTP
            """)
    }

    /// Passes signals on that were sent to this process alone. What a person types reaches all processes of the terminal.
    private static func passSignals(to pipe: Int32) {
        let isInForeground = tcgetpgrp(STDIN_FILENO) == getpgrp()
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2] {
            signal(number, SIG_IGN)
            if isInForeground, number == SIGINT || number == SIGQUIT { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                withExtendedLifetime(source) {
                    withUnsafeBytes(of: UInt8(number)) { _ = write(pipe, $0.baseAddress, 1) }
                }
            }
            source.resume()
        }
    }
}
