import AldabaConfiguration
import Foundation
import Logging

/// Starts the children of `up`, keeps them, and ends them.
struct UpRun: Sendable {
    private let plan: UpPlan
    private let addresses = Readiness<ServerAddresses>()
    /// Whether notifications appear on a screen; known once apps can connect.
    private let agentListens = Readiness<Bool>()
    private let deviceToken = Readiness<String>()
    /// The demo app's first process; `nil` when it cannot be kept running.
    private let appStarted = Readiness<Int32?>()
    /// Whether the demo app has connected to the agent; `false` when it cannot be kept running.
    private let appConnected = Readiness<Bool>()
    private let logger = Logger(label: "aldaba.up")

    /// Whether the agents of the further devices listen, by their places after the first.
    private let othersListen: [Readiness<Bool>]

    /// Shows a line for each notification that a device gets; `nil` for none.
    private let notificationLine: (@Sendable (String) -> Void)?

    init(_ plan: UpPlan, notificationLine: (@Sendable (String) -> Void)? = nil) {
        self.plan = plan
        self.notificationLine = notificationLine
        othersListen = plan.devices.dropFirst().map { _ in Readiness<Bool>() }
    }

    /// Runs until a signal comes.
    ///
    /// - Parameter ready: Called once, when the demo app has its device token and, if it is to be started, is
    ///   connected.
    /// - Throws: when server or agent cannot be kept running.
    func run(ready: @escaping @Sendable (UpSummary) throws -> Void) async throws {
        let supervisor = try Supervisor(
            names: ["serve", "agent", "app"] + otherDevices.map(\.name) + (plan.nodes?.names ?? []),
            processFile: plan.folder.processes,
            logger: logger)
        defer {
            for file in [plan.folder.processes, plan.folder.shellVariables] {
                try? FileManager.default.removeItem(atPath: file)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Whichever ends first ends all: a signal, or a child that is given up.
            group.addTask {
                await StopSignals.wait()
                throw CancellationError()
            }
            group.addTask {
                try await portsInFront()
                try await keep("serve", supervisor) { try serverPlan(1) }
            }
            if let nodes = plan.nodes { addNodes(nodes, supervisor: supervisor, to: &group) }
            group.addTask {
                _ = try await addresses.value()
                try await keep("agent", supervisor, agentPlan)
            }
            for (child, device, listens) in otherDevices {
                group.addTask {
                    _ = try await addresses.value()
                    try await keep(child, supervisor) { try agentPlan(child, device) { listens.settle(.success($0)) } }
                }
            }
            if plan.startsApp { group.addTask { try await keepApp(supervisor) } }
            group.addTask { try await reportReady(supervisor, ready) }
            var failure: (any Error)?
            do { while try await group.next() != nil {} } catch { failure = error }
            group.cancelAll()
            while await group.nextResult() != nil {}
            if let failure, !(failure is CancellationError) { throw CommandError(.failed, "\(failure)") }
        }
    }

    private func keep(
        _ name: String, _ supervisor: Supervisor, _ childPlan: @escaping @Sendable () throws -> ChildProcess.Plan
    ) async throws {
        try await supervisor.keep(Supervisor.Child(name: name, plan: childPlan))
    }

    /// The path goes on without its demo app.
    private func keepApp(_ supervisor: Supervisor) async throws {
        _ = try await agentListens.value()
        let child = Supervisor.Child(name: "app", plan: appPlan) { [appStarted] in appStarted.settle(.success($0)) }
        do { try await supervisor.keep(child) } catch let end as CancellationError { throw end } catch {
            logger.error("\(error); the rest goes on without it")
            appStarted.settle(.success(nil))
            appConnected.settle(.success(false))
        }
    }

    private func reportReady(_ supervisor: Supervisor, _ ready: @Sendable (UpSummary) throws -> Void) async throws {
        var addresses = try await addresses.value()
        if let nodes = plan.nodes {
            for other in nodes.addresses { _ = try await other.value() }
            addresses = nodes.shared(addresses)
        }
        // Made while the agent begins: a new key takes a while.
        let fcm = addresses.http ?? addresses.control
        let serviceAccount = try await ServerRegister.ensureDemoServiceAccount(plan.folder, server: fcm)
        let token = try await deviceToken.value()
        for listens in othersListen { _ = try await listens.value() }
        if plan.startsApp {
            _ = try await appStarted.value()
            _ = try await appConnected.value()
        }
        let summary = UpSummary(
            plan: plan, addresses: addresses, deviceToken: token, fcm: fcm, serviceAccount: serviceAccount,
            hasScreen: agentListens.current ?? true, showsNotifications: notificationLine != nil,
            servers: plan.nodes.map { nodes in
                [self.addresses.current].compactMap(\.self) + nodes.addresses.compactMap(\.current)
            } ?? [], processes: await supervisor.running)
        try ShellVariables(summary: summary).write()
        try ready(summary)
    }

    /// Starts the servers after the first, and the ports in front of all.
    private func addNodes(
        _ nodes: UpNodes, supervisor: Supervisor, to group: inout ThrowingTaskGroup<Void, any Error>
    ) {
        for number in 2...nodes.count {
            group.addTask {
                // The first one makes what all of them share.
                _ = try await addresses.value()
                try await keep(UpNodes.name(number), supervisor) { try serverPlan(number) }
            }
        }
        for shared in nodes.sharedPorts {
            group.addTask { try await shared.run(plan.ports[shared.key] ?? 0) }
        }
        group.addTask { [notificationLine] in await nodes.killByKey(supervisor) { notificationLine?($0) } }
    }

    /// Waits until the ports in front of several servers listen: the servers name one of them in addresses of files.
    private func portsInFront() async throws {
        for shared in plan.nodes?.sharedPorts ?? [] { _ = try await shared.bound.value() }
    }

    private func serverPlan(_ number: Int) throws -> ChildProcess.Plan {
        let nodes = plan.nodes
        let known = number == 1 ? addresses.current : nodes?.addresses[number - 2].current
        let folder = try UpNodes.folder(number, plan.folder)
        // The port of several servers is that in front of them.
        let shared: Set<ConfigurationKey> =
            nodes.map { number == 1 ? Set($0.sharedPorts.map(\.key)) : Set(UpPlan.portKeys) } ?? []
        func port(_ key: ConfigurationKey, _ bound: Int?) -> String {
            "--\(key.rawValue)=\(bound ?? (shared.contains(key) ? 0 : plan.ports[key] ?? 0))"
        }
        var except = Set(UpPlan.portKeys)
        except.formUnion([.data, .development, .environment])
        if known?.legacyPort != nil { except.insert(.legacyPort) }
        if known?.legacyFeedbackPort != nil { except.insert(.legacyFeedbackPort) }
        let shownControl = plan.values.text(.mediaURL) == nil ? nodes?.control.bound.current : nil
        let words =
            [
                "serve", "--report-ready", "--data=\(folder.root)", "--development=true",
                "--environment=\(plan.pushEnvironment)",
                port(.apnsPort, known?.apnsPort), port(.devicePort, known?.devicePort),
                port(.controlPort, known?.controlPort), port(.httpPort, known?.httpPort),
                port(.metricsPort, known?.metricsPort),
            ]
            + [(ConfigurationKey.legacyPort, known?.legacyPort), (.legacyFeedbackPort, known?.legacyFeedbackPort)]
            // A server that is started again keeps the ports that it was given.
            .compactMap { key, bound in bound.map { port(key, $0) } } + plan.configurationFlag
            + plan.values.flags(for: .serve, except: except)
            + [nodes?.control.bound.current, nodes?.http.bound.current].compactMap { port in
                port.map { "--load-balancer-port=\($0)" }
            }
            // A file, and a browser's subscription, can be reached for as long as one server runs.
            + (shownControl.map { ["--media-url=https://\(ServerAddresses.authority(plan.clientHost, $0))"] } ?? [])
            + (number == 1
                ? []
                : [
                    "--certificate=\(plan.certificates.server)", "--certificate-key=\(plan.certificates.serverKey)",
                ])
        return try child(UpNodes.name(number), executable: plan.executable, arguments: words) { [addresses] line in
            guard let told = ServerAddresses(line: line) else { return }
            if number == 1 { addresses.settle(.success(told)) }
            nodes?.listens(number, told)
        }
    }

    /// The devices after the first, by the names of their children.
    private var otherDevices: [(name: String, device: UpDevice, listens: Readiness<Bool>)] {
        zip(plan.devices.dropFirst(), othersListen).enumerated().map { index, pair in
            ("agent-\(index + 2)", pair.0, pair.1)
        }
    }

    private func agentPlan() throws -> ChildProcess.Plan {
        try child("agent", executable: plan.executable, arguments: agentWords(plan.folder, plan.socket)) {
            [agentListens, deviceToken, appConnected, notificationLine] line in
            let report = AgentReport(line: line)
            report?.notificationLine.map { notificationLine?($0) }
            switch report {
            case .listening(_, let hasScreen): agentListens.settle(.success(hasScreen))
            case .registered(let app, let token) where app == DemoApp.topic.rawValue:
                deviceToken.settle(.success(token))
            case .connected(let app) where app == DemoApp.topic.rawValue: appConnected.settle(.success(true))
            default: break
            }
        }
    }

    /// The agent of a device after the first; its log lies with the others'.
    private func agentPlan(
        _ name: String, _ device: UpDevice, listens: @escaping @Sendable (Bool) -> Void
    ) throws -> ChildProcess.Plan {
        try child(name, executable: plan.executable, arguments: agentWords(device.folder, device.socket)) {
            [notificationLine] line in
            let report = AgentReport(line: line)
            report?.notificationLine.map { notificationLine?($0) }
            if case .listening(_, let hasScreen) = report { listens(hasScreen) }
        }
    }

    private func agentWords(_ folder: DataFolder, _ socket: String) -> [String] {
        let server = addresses.current.map { plan.nodes?.shared($0) ?? $0 }
        let timeout = plan.values.origin(.reconnectAfter) == .builtIn ? ["--reconnect-after=100"] : []
        let except: Set<ConfigurationKey> = [
            .data, .environment, .agentServer, .agentControl, .agentCA, .agentSocket,
        ]
        return
            [
                "agent", "run", "--report-ready", "--data=\(folder.root)",
                "--environment=\(plan.pushEnvironment)", "--agent-server=\(server?.device ?? "")",
                "--agent-control=\(server?.control ?? "")", "--agent-ca=\(plan.certificates.authority)",
                "--agent-socket=\(socket)",
            ] + timeout + plan.configurationFlag + plan.values.flags(for: .agent, except: except)
    }

    private func appPlan() throws -> ChildProcess.Plan {
        var plan = try child("app", executable: plan.appExecutable, arguments: [], line: nil)
        // Settings of server and agent, above all the enrolment key, are kept from apps.
        plan.environment = plan.environment.filter {
            !$0.key.hasPrefix("ALDABA_") || $0.key == SupervisorWatch.variable
        }
        plan.environment.merge(self.plan.appEnvironment) { $1 }
        plan.environment["ALDABA_AGENT_SOCKET"] = self.plan.socket
        plan.environment["ALDABA_APP_ID"] = DemoApp.topic.rawValue
        return plan
    }

    private func child(
        _ name: String, executable: String, arguments: [String], line: (@Sendable (String) -> Void)?
    ) throws -> ChildProcess.Plan {
        var environment = plan.environment
        environment[SupervisorWatch.variable] = "1"
        return ChildProcess.Plan(
            executable: executable, arguments: arguments, environment: environment,
            log: try BoundedLogFile(path: "\(plan.folder.logs)/\(name).log"), line: line)
    }
}
