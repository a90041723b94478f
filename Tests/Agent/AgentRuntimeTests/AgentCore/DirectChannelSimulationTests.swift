import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentRuntime
@testable import AppHost

/// The two ends of a direct channel over a wire that is cut at random: the agent's ``ChannelDelivery`` with a store, the app's
/// ``AppSession`` with handlers that take their time, and an app that comes and goes.
private struct ChannelSimulation {
    private var random: SeededGenerator
    private var delivery = ChannelDelivery()
    private var waiting: [DataMessage] = []
    private var session = AppSession(app: "com.example.todo", run: "r", place: "/run/agent.sock")
    private var toAgent: [AppMessage] = []
    private var toApp: [AgentMessage] = []
    private var isOpen = false
    private var isWanted = false
    private var running: [Int64] = []
    private let total: Int64
    private var arrived: Int64 = 0
    /// What the app was given, in order.
    private(set) var given: [Int64] = []
    /// What was given while the app did not want it.
    private(set) var unwanted: [Int64] = []

    init(seed: UInt64, total: Int64) {
        random = SeededGenerator(seed: seed)
        self.total = total
        say(.started)
        say(.launchBegan)
    }

    var isDone: Bool { arrived == total && waiting.isEmpty && running.isEmpty }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<2: if isOpen { cut() }
        case 2..<8:
            isWanted.toggle()
            say(.channelWanted(isWanted))
        case 8..<25: arrive()
        case 25..<50: if !toAgent.isEmpty { hear(toAgent.removeFirst()) }
        case 50..<75: if !toApp.isEmpty { say(.received(toApp.removeFirst())) }
        default:
            guard !running.isEmpty else { break }
            say(.dataHandled(id: running.removeFirst()))
        }
    }

    private mutating func cut() {
        isOpen = false
        (toAgent, toApp) = ([], [])
        give(.reconnected)
        say(.disconnected(reason: nil, jitter: 0))
    }

    private mutating func arrive() {
        guard arrived < total else { return }
        arrived += 1
        waiting.append(
            DataMessage(
                sequence: DataMessage.Place(rawValue: arrived), id: NotificationID(rawValue: arrived),
                app: "com.example.todo", apnsID: "a",
                payload: "{}", acceptedAt: noon))
        give(.stored)
    }

    private mutating func hear(_ message: AppMessage) {
        switch message {
        case .hello:
            give(.reconnected)
            toApp.append(.welcome(.init(state: .active, authorization: 2)))
        case .channel(.open): give(.opened)
        case .channel(.close): give(.closed)
        case .channel(.taken(let id)): give(.taken(NotificationID(rawValue: id)))
        default: break
        }
    }

    private mutating func give(_ event: ChannelDelivery.Event) {
        var directives = delivery.handle(event)
        while !directives.isEmpty {
            switch directives.removeFirst() {
            case .read(let place, let limit):
                let page = Array(waiting.filter { $0.sequence > place }.prefix(limit))
                directives += delivery.handle(.page(page, limit: limit))
            case .deliver(let message): toApp.append(.channel(.message(message.delivered)))
            case .record(let id):
                waiting.removeAll { $0.id == id }
                toApp.append(.channel(.takenConfirmed(messages: [id.rawValue])))
            }
        }
    }

    private mutating func say(_ event: AppSession.Event) {
        for directive in session.handle(event, now: .zero) {
            switch directive {
            case .connect:
                isOpen = true
                say(.connected)
            case .send(let message): toAgent.append(message)
            case .launch: say(.launchFinished)
            case .handData(let message):
                given.append(message.id)
                if !isWanted { unwanted.append(message.id) }
                running.append(message.id)
            default: break
            }
        }
    }
}

struct DirectChannelSimulationTests {
    @Test func `over a wire that is cut at random every message comes once, in order, while it is wanted`() {
        for seed in UInt64(1)...200 {
            var simulation = ChannelSimulation(seed: seed, total: 100)
            var steps = 0
            while !simulation.isDone, steps < 100_000 {
                simulation.step()
                steps += 1
            }
            #expect(simulation.given == Array(1...100), "seed \(seed)")
            #expect(simulation.unwanted == [], "seed \(seed)")
        }
    }
}
