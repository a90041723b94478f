import NIOCore
import Testing

@testable import PushServer

@Suite struct OtherNodesTests {
    private let begin = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let both = NodeHeartbeat(nodes: [0: .init(run: 1, isAlive: true), 1: .init(run: 1, isAlive: true)])

    /// Has the store answer at once to a question at some second.
    private func hasGap(_ nodes: inout OtherNodes, at second: Int64, _ heartbeat: NodeHeartbeat? = nil) -> Bool {
        nodes.asking = begin + .seconds(second)
        return nodes.receive(heartbeat ?? both, at: begin + .seconds(second)).hasGap
    }

    @Test func `sessions are compared until the others know a new node, and again after a silence`() {
        var nodes = OtherNodes()
        let gaps = [0, 1, 2, 3, 4, 8, 9, 10, 11, 12].map { hasGap(&nodes, at: $0) }
        #expect(gaps == [true, true, true, false, false, true, true, true, false, false])
    }

    @Test func `sessions are compared once another node's run has ended`() {
        var nodes = OtherNodes()
        for second in 0...4 as ClosedRange<Int64> { _ = hasGap(&nodes, at: second) }
        var next = both
        next.nodes[1]?.run = 2
        #expect(hasGap(&nodes, at: 5, next) && !hasGap(&nodes, at: 6, next))
        next.nodes[1]?.isAlive = false
        #expect(hasGap(&nodes, at: 7, next) && !hasGap(&nodes, at: 8, next))
        nodes.forgetRuns()
        #expect(hasGap(&nodes, at: 9, next), "an answer was lost")
    }

    @Test func `an answer that was lost ends no node's run`() {
        var nodes = OtherNodes()
        for second in 0...4 as ClosedRange<Int64> { _ = hasGap(&nodes, at: second) }
        nodes.forgetRuns()
        nodes.asking = begin + .seconds(5)
        let found = nodes.receive(both, at: begin + .seconds(5))
        #expect(found.hasGap && found.ended.isEmpty)
    }

    @Test func `the time between questions counts, not that between answers`() {
        var nodes = OtherNodes()
        for second in 0...4 as ClosedRange<Int64> { _ = hasGap(&nodes, at: second) }
        nodes.asking = begin + .seconds(5)
        #expect(!nodes.receive(both, at: begin + .seconds(6)).hasGap)
        nodes.asking = begin + .seconds(6)
        #expect(nodes.receive(both, at: begin + .seconds(9)).hasGap, "others saw nothing since the fifth second")
    }

    @Test func `a node that was never heard of has just begun, and one without answers is silent after a while`() {
        var nodes = OtherNodes()
        #expect(nodes.isAlive(7) && !nodes.isSilent(at: begin + .seconds(60)))
        var next = both
        next.nodes[1]?.isAlive = false
        _ = hasGap(&nodes, at: 0, next)
        #expect(nodes.isAlive(0) && !nodes.isAlive(1) && nodes.isAlive(7))
        #expect(!nodes.isSilent(at: begin + .seconds(5)) && nodes.isSilent(at: begin + .seconds(6)))
    }
}
