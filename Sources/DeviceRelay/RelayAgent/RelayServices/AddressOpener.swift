import Foundation
import Platform
import RelayProtocol
import Synchronization

/// Opens an address in the person's session; a port, so that tests start no program.
package protocol AddressOpener: Sendable {
    /// Opens it. `complete` is called once, on any thread.
    ///
    /// - Parameter app: The app that is to do it, which is not connected to the agent; `nil` for the desktop's choice.
    func open(_ uri: String, app: String?, then complete: @escaping @Sendable (RelayOutcome) -> Void)
    /// Finds out whether a program opens addresses of a scheme. `complete` is called once, on any thread, with `true`
    /// also where that cannot be known.
    ///
    /// - Parameter app: The app that is to do it, which is not connected to the agent; `nil` for any.
    func findProgram(for scheme: String, app: String?, then complete: @escaping @Sendable (Bool) -> Void)
}

/// Opens addresses by `xdg-open`, which asks the desktop for the program to open them.
///
/// A program that ends within three seconds reports the outcome by its exit code. A program that keeps running has
/// accepted the address: it may be the browser itself. At most ``limit`` are waited for at a time. AcceptedNotification does not
/// mean that a window has opened.
package final class XDGOpen: AddressOpener {
    /// How many programs that were started may run at a time.
    package static let limit = 32
    private static let timeout = DispatchTimeInterval.seconds(3)

    private let environment: [String: String]
    private let threads = BoundedThreads("aldaba-open", limit: limit)
    private let running = Mutex(0)

    /// An opener in this environment; the agent's own settings are kept from what it starts.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    /// Runs `xdg-open` with the address.
    package func open(_ uri: String, app: String?, then complete: @escaping @Sendable (RelayOutcome) -> Void) {
        if let app { return complete(RelayOutcome(.appNotInstalled, detail: "\(app) is not connected here")) }
        guard let path = ChildProgram.find("xdg-open", environment: environment) else {
            return complete(RelayOutcome(.failed, detail: "xdg-open is not installed there"))
        }
        let program = ChildProgram(path: path, arguments: [uri], environment: environment)
        let isFree = running.withLock { running in
            guard running < Self.limit else { return false }
            running += 1
            return true
        }
        let busy = RelayOutcome(.resourceLimits, detail: "other addresses are being opened here")
        guard isFree else { return complete(busy) }
        guard threads.begin({ [self] in outcome(of: program) }, then: complete) else {
            running.withLock { $0 -= 1 }
            return complete(busy)
        }
    }

    /// Asks `xdg-mime` for the program of the scheme.
    package func findProgram(for scheme: String, app: String?, then complete: @escaping @Sendable (Bool) -> Void) {
        guard app == nil else { return complete(false) }
        guard let path = ChildProgram.find("xdg-mime", environment: environment) else { return complete(true) }
        let program = ChildProgram(
            path: path, arguments: ["query", "default", "x-scheme-handler/\(scheme)"], environment: environment)
        let isBegun = threads.begin(
            { (try? program.run(outputLimit: 4096, timeout: .seconds(3))).flatMap { $0 }.map { !$0.isEmpty } ?? true },
            then: complete)
        if !isBegun { complete(true) }
    }

    private func outcome(of program: ChildProgram) -> RelayOutcome {
        let pid: pid_t
        do throws(MachineError) { pid = try program.start() } catch {
            running.withLock { $0 -= 1 }
            return RelayOutcome(.failed, detail: "xdg-open cannot be started: \(error)")
        }
        let hasEnded = DispatchSemaphore(value: 0)
        let end = CompletionBox()
        NamedThread.begin("aldaba-opened") { [self] in
            let how = ChildProgram.reap(pid)
            running.withLock { $0 -= 1 }
            end.value.withLock { $0 = how }
            hasEnded.signal()
        }
        guard hasEnded.wait(timeout: .now() + Self.timeout) == .success, let how = end.value.withLock({ $0 }) else {
            return RelayOutcome(.success)
        }
        switch how {
        case .exited(0): return RelayOutcome(.success)
        case .exited(3): return RelayOutcome(.protocolUnavailable, detail: "xdg-open found no program for it")
        default: return RelayOutcome(.failed, detail: "xdg-open ended with \(how)")
        }
    }

    private final class CompletionBox: Sendable {
        let value = Mutex<ProgramEnd?>(nil)
    }
}
