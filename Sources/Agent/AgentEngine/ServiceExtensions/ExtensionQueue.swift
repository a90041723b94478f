import AgentProtocol
import PushCore

/// Decides which process of which service extension changes which notification, and when its time is up: a value,
/// events in and directives out. Times are those of any clock that does not go back.
///
/// Guarantees: every notification that arrived ends with exactly one ``Directive/finish(_:app:_:after:)``, within
/// ``Limits/waiting`` and ``Limits/deadline`` together; an app has at most ``Limits/processes`` processes, and of what
/// waits for them ``Limits/queue``; a process has one notification at a time, and only its first answer for that
/// counts.
package struct ExtensionQueue: Sendable {
    /// How much there may be, and how long it may take.
    package struct Limits: Sendable {
        /// The processes of one app at a time.
        package var processes = 2
        /// The notifications of one app that may wait for a process.
        package var queue = 64
        /// How long one may wait for a process.
        package var waiting = Duration.seconds(30)
        /// The time after which an extension is warned that its time is almost over.
        package var warning = Duration.seconds(28)
        /// After how long it is killed, and the notification shown as it came.
        package var deadline = Duration.seconds(30)
        /// How long a process without work is kept for the next notification.
        package var idleLifetime = Duration.seconds(10)
        /// How long a process that has closed its connection may take to end by itself, so that it is known how.
        package var leaving = Duration.milliseconds(500)

        /// The limits of the agent.
        package init() {}
    }

    /// An event of the queue.
    package enum Event: Sendable {
        /// A notification is stored that waits for its app's extension. One that waits already changes nothing.
        case arrived(NotificationID, app: BundleID)
        /// The process of this number is connected.
        case connected(Int)
        /// A process has answered for a notification.
        case answered(Int, NotificationID, ExtensionAnswer)
        /// The agent has finished ``Directive/finish(_:app:_:after:)``: the notification is stored as it appears.
        case settled(NotificationID)
        /// The process could not be started, and why.
        case notStarted(Int, reason: String)
        /// The process has closed its connection.
        case disconnected(Int)
        /// The process has more memory than it may have.
        case grewTooLarge(Int, bytes: Int64)
        /// The process has ended, and how.
        case ended(Int, how: String)
        /// The app has no extension any more, or another one.
        case changed(app: BundleID)
        /// ``nextDeadline`` is reached.
        case timePassed
    }

    /// An action for the agent; directives are performed in order.
    package enum Directive: Sendable, Hashable {
        /// Start a process of the app's extension; it has this number from now on.
        case start(Int, app: BundleID)
        /// Hand a notification to a process.
        case extend(Int, NotificationID)
        /// Warn a process that the time for a notification is almost over.
        case expire(Int, NotificationID)
        /// Kill a process and what it started.
        case kill(Int)
        /// Delete what a process that has ended left behind.
        case clear(Int)
        /// A notification waits no longer: store it as it appears, then send ``Event/settled(_:)``. The duration is the
        /// time that the extension took.
        case finish(NotificationID, app: BundleID, ExtensionResult, after: Duration)
    }

    private struct Job: Sendable {
        let id: NotificationID
        let since: Duration
        var isWarned = false
    }

    private struct Process: Sendable {
        let app: BundleID
        var isConnected = false
        /// The notification that it has not answered for.
        var job: Job?
        /// The notification that it answered for, until that is stored: its files are still in the process's folder.
        var settling: NotificationID?
        /// When it is killed: without work, or since it closed its connection.
        var leavesAt: Duration?
        /// Whether it was asked to end, or has ended: it gets nothing more.
        var isEnding = false
        var hasEnded = false

        var isIdle: Bool { job == nil && settling == nil && !isEnding && isConnected }
    }

    private let limits: Limits
    private var processes: [Int: Process] = [:]
    private var waiting: [BundleID: [Job]] = [:]
    /// Every notification that arrived and is not settled.
    private var known: Set<NotificationID> = []
    private var lastProcess = 0
    private var directives: [Directive] = []

    /// Nothing waits, and no process runs.
    package init(limits: Limits = Limits()) { self.limits = limits }

    /// When ``Event/timePassed`` is due; `nil` while nothing has a deadline.
    package var nextDeadline: Duration? {
        let ofProcesses = processes.values.flatMap { process in
            [process.leavesAt, process.job.map { $0.since + ($0.isWarned ? limits.deadline : limits.warning) }]
        }
        // The first of a queue has waited longest.
        let ofQueues = waiting.values.map { $0.first.map { $0.since + limits.waiting } }
        return (ofProcesses + ofQueues).compactMap(\.self).min()
    }

    /// The numbers of the processes that have not ended.
    package var running: [Int] { processes.filter { !$0.value.hasEnded }.keys.sorted() }

    /// Handles an event, and returns the directives that follow.
    package mutating func handle(_ event: Event, now: Duration) -> [Directive] {
        switch event {
        case .arrived(let id, let app): handleArrival(of: id, app: app, at: now)
        case .connected(let number): connected(number)
        case .answered(let number, let id, let answer): answered(number, id: id, answer: answer, at: now)
        case .settled(let id): settled(id, now)
        case .notStarted(let number, let reason): end(number, outcome: .notStarted, reason: reason, at: now)
        case .disconnected(let number): disconnected(number, now)
        case .grewTooLarge(let number, let bytes):
            kill(number, outcome: .tooMuchMemory, reason: "it took \(bytes >> 10) KiB of memory", at: now)
        case .ended(let number, let how): end(number, outcome: .crashed, reason: "its process ended: \(how)", at: now)
        case .changed(let app): changed(app, now)
        case .timePassed: timePassed(now)
        }
        defer { directives = [] }
        return directives
    }
}

// MARK: - Notifications

extension ExtensionQueue {
    private mutating func handleArrival(of id: NotificationID, app: BundleID, at now: Duration) {
        guard known.insert(id).inserted else { return }
        let job = Job(id: id, since: now)
        guard (waiting[app] ?? []).count < limits.queue else {
            return finish(
                job, app: app, result: .failed(.busy, note: "\(limits.queue) wait for the extension already"), at: now)
        }
        waiting[app, default: []].append(job)
        pump(app, now)
    }

    /// Gives what waits to processes that are free, and starts processes as far as there may be more.
    private mutating func pump(_ app: BundleID, _ now: Duration) {
        while let next = waiting[app]?.first {
            let own = processes.filter { $0.value.app == app }
            let number: Int
            if let free = own.filter({ $0.value.isIdle }).keys.min() {
                number = free
            } else if own.count < limits.processes {
                lastProcess += 1
                number = lastProcess
                processes[number] = Process(app: app)
                directives.append(.start(number, app: app))
            } else {
                return
            }
            waiting[app]?.removeFirst()
            // Its time begins now: waiting did not count.
            processes[number]?.job = Job(id: next.id, since: now)
            processes[number]?.leavesAt = nil
            if processes[number]?.isConnected == true { directives.append(.extend(number, next.id)) }
        }
        waiting[app] = nil
    }

    private mutating func answered(_ number: Int, id: NotificationID, answer: ExtensionAnswer, at now: Duration) {
        guard let process = processes[number], process.isConnected, let job = process.job, job.id == id else { return }
        processes[number]?.job = nil
        processes[number]?.settling = id
        finish(job, app: process.app, result: .answered(answer), at: now)
    }

    private mutating func finish(_ job: Job, app: BundleID, result: ExtensionResult, at now: Duration) {
        directives.append(.finish(job.id, app: app, result, after: now - job.since))
    }

    private mutating func settled(_ id: NotificationID, _ now: Duration) {
        known.remove(id)
        guard let number = processes.first(where: { $0.value.settling == id })?.key else { return }
        processes[number]?.settling = nil
        guard let process = processes[number] else { return }
        if process.hasEnded {
            clear(number, now)
        } else if !process.isEnding {
            if process.leavesAt == nil { processes[number]?.leavesAt = now + limits.idleLifetime }
            pump(process.app, now)
        }
    }
}

// MARK: - Processes

extension ExtensionQueue {
    private mutating func connected(_ number: Int) {
        guard let process = processes[number], !process.isConnected, !process.isEnding else { return }
        processes[number]?.isConnected = true
        if let job = process.job { directives.append(.extend(number, job.id)) }
    }

    private mutating func disconnected(_ number: Int, _ now: Duration) {
        guard let process = processes[number], !process.isEnding else { return }
        processes[number]?.isConnected = false
        processes[number]?.leavesAt = now + limits.leaving
    }

    /// A process is over: it could not be started, or has ended.
    private mutating func end(_ number: Int, outcome: ExtensionOutcome, reason: String, at now: Duration) {
        guard let process = processes[number], !process.hasEnded else { return }
        processes[number]?.isEnding = true
        processes[number]?.hasEnded = true
        processes[number]?.leavesAt = nil
        processes[number]?.job = nil
        if let job = process.job { finish(job, app: process.app, result: .failed(outcome, note: reason), at: now) }
        if process.settling == nil { clear(number, now) }
    }

    private mutating func clear(_ number: Int, _ now: Duration) {
        guard let process = processes.removeValue(forKey: number) else { return }
        directives.append(.clear(number))
        pump(process.app, now)
    }

    /// Kills a process, and ends what it has not answered for; its place is free when it has ended.
    private mutating func kill(_ number: Int, outcome: ExtensionOutcome, reason: String, at now: Duration) {
        guard let process = processes[number], !process.isEnding else { return }
        processes[number]?.isEnding = true
        processes[number]?.leavesAt = nil
        processes[number]?.job = nil
        directives.append(.kill(number))
        if let job = process.job { finish(job, app: process.app, result: .failed(outcome, note: reason), at: now) }
    }

    private mutating func changed(_ app: BundleID, _ now: Duration) {
        let reason = "the app's manifest names another extension now, or none"
        for job in waiting.removeValue(forKey: app) ?? [] {
            finish(job, app: app, result: .failed(.interrupted, note: reason), at: now)
        }
        for number in processes.filter({ $0.value.app == app }).keys.sorted() {
            kill(number, outcome: .interrupted, reason: reason, at: now)
        }
    }

    private mutating func timePassed(_ now: Duration) {
        for number in processes.keys.sorted() {
            guard let process = processes[number], !process.isEnding else { continue }
            if let job = process.job, now >= job.since + limits.deadline {
                kill(
                    number, outcome: .timedOut,
                    reason: "it did not answer within \(limits.deadline.components.seconds) seconds", at: now)
            } else if let leavesAt = process.leavesAt, now >= leavesAt {
                kill(number, outcome: .crashed, reason: "it closed its connection", at: now)
            } else if let job = process.job, !job.isWarned, now >= job.since + limits.warning {
                processes[number]?.job?.isWarned = true
                if process.isConnected { directives.append(.expire(number, job.id)) }
            }
        }
        for app in waiting.keys.sorted() {
            while let first = waiting[app]?.first, now >= first.since + limits.waiting {
                waiting[app]?.removeFirst()
                let reason = "it waited \(limits.waiting.components.seconds) seconds for the extension"
                finish(first, app: app, result: .failed(.busy, note: reason), at: now)
            }
            if waiting[app]?.isEmpty == true { waiting[app] = nil }
        }
    }
}
