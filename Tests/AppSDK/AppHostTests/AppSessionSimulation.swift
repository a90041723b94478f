import AgentProtocol
import Testing

@testable import AppHost

/// An agent that keeps the protocol, an app, and a wire between them that is cut at random.
struct Simulation {
    private var random: SeededNumbers
    private var talk = Conversation()
    private let total: Int64
    private var isOpen = false
    private var toAgent: [AppMessage] = []
    private var toApp: [AgentMessage] = []
    private var stored: Set<Int64> = []
    private var arrived: Int64 = 0
    private var agentIsReady = false
    private var running: [Int64] = []
    private var asked: Int64 = 0
    /// The commands whose answers the app has got, in order.
    private(set) var answered: [Int64] = []
    /// What the app was handed, in order.
    private(set) var handed: [Int64] = []

    init(seed: UInt64, total: Int64) {
        random = SeededNumbers(state: seed)
        self.total = total
        follow(talk.say(.started))
        talk.say(.launchBegan)
    }

    var isDone: Bool {
        stored.count == total && answered.count == total && toApp.isEmpty && toAgent.isEmpty && isOpen && agentIsReady
    }
    var unconfirmed: Int {
        var talk = talk
        return talk.reconnect().filter { if case .send(.handled) = $0 { true } else { false } }.count
    }

    mutating func step() {
        switch random.next() % 100 {
        case 0 where stored.count < total: cut()
        case 1..<15: arrive()
        case 15..<20: askNext()
        case 20..<45: if !toAgent.isEmpty { agentHears(toAgent.removeFirst()) }
        case 45..<75: if !toApp.isEmpty { follow(talk.hear(toApp.removeFirst())) }
        default: finishOne()
        }
    }

    private mutating func cut() {
        guard isOpen else { return }
        isOpen = false
        agentIsReady = false
        toAgent = []
        toApp = []
        follow(talk.say(.disconnected(reason: nil, jitter: 0)))
    }

    private mutating func arrive() {
        guard arrived < total else { return }
        arrived += 1
        if agentIsReady { toApp.append(Conversation.deliver(arrived)) }
    }

    private mutating func askNext() {
        guard asked < total else { return }
        asked += 1
        follow(talk.say(.centerRequested(request: asked, .setBadge(Int(asked)), size: 60)))
    }

    private mutating func finishOne() {
        guard !running.isEmpty else { return }
        let id = running.remove(at: Int(random.next() % UInt64(running.count)))
        follow(talk.say(.presentationAnswered(id: id, options: 1)))
    }

    private mutating func agentHears(_ message: AppMessage) {
        switch message {
        case .hello: toApp.append(.welcome(.init(state: .active, authorization: 2)))
        case .ready:
            agentIsReady = true
            for id in 1..<(arrived + 1) where !stored.contains(id) { toApp.append(Conversation.deliver(id)) }
        case .handled(let id, _):
            stored.insert(id)
            toApp.append(.handledConfirmed(notifications: [id]))
        case .center(let request, _): toApp.append(.centerAnswered(request: request, .done))
        default: break
        }
    }

    private mutating func follow(_ directives: [AppSession.Directive]) {
        for directive in directives {
            switch directive {
            case .connect:
                isOpen = true
                follow(talk.say(.connected))
            case .send(let message): toAgent.append(message)
            case .launch: follow(talk.say(.launchFinished))
            case .answerCenter(let request, _): answered.append(request)
            case .askPresentation(let notification):
                handed.append(notification.id)
                running.append(notification.id)
            default: break
            }
        }
    }
}

/// SplitMix64: the same numbers for the same seed.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

struct AppSessionSimulationTests {
    @Test(arguments: UInt64(1)...200)
    func `whatever is cut, notifications reach the app and commands are answered once, in order, and nothing is kept`(
        seed: UInt64
    ) {
        var simulation = Simulation(seed: seed, total: 300)
        var steps = 0
        while !simulation.isDone, steps < 200_000 {
            simulation.step()
            steps += 1
        }
        #expect(simulation.isDone)
        #expect(simulation.handed == Array(1...300))
        #expect(simulation.unconfirmed == 0)
        #expect(simulation.answered == Array(1...300))
    }
}
