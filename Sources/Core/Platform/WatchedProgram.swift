import CLinux
import Foundation
import Synchronization

/// An untrusted program, watched on a thread of its own until it has ended. It gains no privileges by the programs that
/// it runs, its memory is measured, and it is killed together with the processes that it started.
///
/// Guarantees: it is started once. ``Event/ended(_:)`` is sent once, and last; until then its process id stays
/// reserved.
package final class WatchedProgram: Sendable {
    /// An event of the program. Sent on its thread, which must not be blocked.
    package enum Event: Sendable, Hashable {
        /// The memory of the program, and of the processes that it started, has exceeded the limit; sent once.
        case grewTooLarge(bytes: Int64)
        /// The program has ended, and the processes that it left running were killed.
        case ended(ProgramEnd)
    }

    /// The interval at which its memory is measured.
    private static let interval = Duration.milliseconds(50)

    /// The process id, which is also that of its process group.
    package let process: pid_t
    private let wish: WakeUp

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - name: The thread's name in the system; at most fifteen bytes.
    ///   - output: The descriptor for its output; a negative one for none. The caller closes it.
    ///   - memoryLimit: The limit of its own memory, in bytes (`RssAnon`).
    ///   - group: The control group into which it is moved, and that is deleted with it; `nil` for none.
    ///   - events: Receives the program's events.
    package static func start(
        _ program: ChildProgram, name: String, output: Int32, memoryLimit: Int64, group: ControlGroup? = nil,
        events: @escaping @Sendable (Event) -> Void
    ) throws(MachineError) -> WatchedProgram {
        let wish = try WakeUp()
        let start = Start()
        NamedThread.begin(name, stackSize: 256 << 10) {
            // Set for the thread, and through it for the program: the rest of this process keeps its privileges.
            guard aldaba_gain_no_privileges() == 0 else {
                group?.remove()
                return start.finish(.failure(MachineError(what: program.path, code: errno)))
            }
            let process: pid_t
            do throws(MachineError) {
                process = try program.start(output: output, errors: output)
            } catch {
                group?.remove()
                return start.finish(.failure(error))
            }
            _ = group?.add(process)
            start.finish(.success(process))
            watch(process, wish: wish, memoryLimit: memoryLimit, group: group, events: events)
        }
        return WatchedProgram(process: try start.wait().get(), wish: wish)
    }

    private init(process: pid_t, wish: WakeUp) {
        self.process = process
        self.wish = wish
    }

    /// Kills the program and the processes that it started; its end is reported as usual. May be called at any time,
    /// and more than once.
    package func kill() { wish.signal() }

    private static func watch(
        _ process: pid_t, wish: WakeUp, memoryLimit: Int64, group: ControlGroup?,
        events: @Sendable (Event) -> Void
    ) {
        let end = aldaba_process_open(process)
        var isTooLarge = false
        while !ChildProgram.hasEnded(process) {
            var watched = [end, wish.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            Pause.poll(&watched, until: .now + interval)
            if wish.isSignalled {
                wish.clear()
                Glibc.kill(-process, SIGKILL)
                group?.kill()
            }
            if !isTooLarge, let bytes = AnonymousMemory.bytes(of: process), bytes > memoryLimit {
                isTooLarge = true
                events(.grewTooLarge(bytes: bytes))
            }
        }
        if end >= 0 { close(end) }
        if !isTooLarge, let limit = group?.exceededLimit { events(.grewTooLarge(bytes: limit)) }
        // Kills the processes that it started and left running. Its id stays reserved until it is reaped.
        Glibc.kill(-process, SIGKILL)
        group?.kill()
        group?.remove()
        events(.ended(ChildProgram.reap(process)))
    }

    /// The result of the start, which happens on the program's thread.
    private final class Start: Sendable {
        private let result = Mutex<Result<pid_t, MachineError>?>(nil)
        private let isDone = DispatchSemaphore(value: 0)

        func finish(_ result: Result<pid_t, MachineError>) {
            self.result.withLock { $0 = result }
            isDone.signal()
        }

        func wait() -> Result<pid_t, MachineError> {
            isDone.wait()
            return result.withLock { $0 } ?? .failure(MachineError(what: "a program", reason: "it was not started"))
        }
    }
}
