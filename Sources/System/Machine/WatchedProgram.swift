import CLinux
import Foundation
import Synchronization

/// A program that may not be trusted, on a thread of its own until it has ended: it gains no rights by what it runs, its
/// memory is looked at, and it is killed together with what it started.
///
/// Guarantees: it is started once; ``Event/ended(_:)`` comes once, and last; until then its process id is its own.
package final class WatchedProgram: Sendable {
    /// What becomes of it. Told on its thread, which must not be blocked.
    package enum Event: Sendable, Hashable {
        /// Its own memory, and that of what it started, has grown beyond the limit; told once.
        case grewTooLarge(bytes: Int64)
        /// It has ended, and what it left running was killed.
        case ended(ProgramEnd)
    }

    /// How often its memory is looked at.
    private static let interval = Duration.milliseconds(50)

    /// Its process id, and that of its process group.
    package let process: pid_t
    private let wish: WakeUp

    /// Starts it.
    ///
    /// - Parameters:
    ///   - name: What the system shows of its thread; at most fifteen bytes.
    ///   - output: Where it writes; a negative descriptor for nowhere. The caller closes it.
    ///   - memoryLimit: Bytes of memory of its own (`RssAnon`).
    ///   - group: The control group that it is put into, and that is deleted with it; `nil` for none.
    ///   - events: Told what becomes of it.
    package static func start(
        _ program: ChildProgram, name: String, output: Int32, memoryLimit: Int64, group: ControlGroup? = nil,
        events: @escaping @Sendable (Event) -> Void
    ) throws(MachineFailure) -> WatchedProgram {
        let wish = try WakeUp()
        let start = Start()
        OwnThread.begin(name, stackSize: 256 << 10) {
            // The thread's, and through it the program's: the rest of this process keeps its rights.
            guard aldaba_gain_no_privileges() == 0 else {
                group?.remove()
                return start.finish(.failure(MachineFailure(what: program.path, code: errno)))
            }
            let process: pid_t
            do throws(MachineFailure) {
                process = try program.start(output: output, errors: output)
            } catch {
                group?.remove()
                return start.finish(.failure(error))
            }
            _ = group?.add(process)
            start.finish(.success(process))
            watch(process, wish, memoryLimit, group, events)
        }
        return WatchedProgram(process: try start.wait().get(), wish: wish)
    }

    private init(process: pid_t, wish: WakeUp) {
        self.process = process
        self.wish = wish
    }

    /// Kills it and what it started; its end is told as always. May be called at any time, and more than once.
    package func kill() { wish.signal() }

    private static func watch(
        _ process: pid_t, _ wish: WakeUp, _ memoryLimit: Int64, _ group: ControlGroup?,
        _ events: @Sendable (Event) -> Void
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
            if !isTooLarge, let bytes = OwnMemory.bytes(of: process), bytes > memoryLimit {
                isTooLarge = true
                events(.grewTooLarge(bytes: bytes))
            }
        }
        if end >= 0 { close(end) }
        if !isTooLarge, let limit = group?.exceededLimit { events(.grewTooLarge(bytes: limit)) }
        // What it started and left running. Its number is its own until it is reaped.
        Glibc.kill(-process, SIGKILL)
        group?.kill()
        group?.remove()
        events(.ended(ChildProgram.reap(process)))
    }

    /// What came of the start, which happens on the program's thread.
    private final class Start: Sendable {
        private let result = Mutex<Result<pid_t, MachineFailure>?>(nil)
        private let isDone = DispatchSemaphore(value: 0)

        func finish(_ result: Result<pid_t, MachineFailure>) {
            self.result.withLock { $0 = result }
            isDone.signal()
        }

        func wait() -> Result<pid_t, MachineFailure> {
            isDone.wait()
            return result.withLock { $0 } ?? .failure(MachineFailure(what: "a program", reason: "it was not started"))
        }
    }
}
