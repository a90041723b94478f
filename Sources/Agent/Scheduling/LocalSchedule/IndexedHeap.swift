/// A binary heap of slots, the earliest deadline on top. Slots are found by index, so that one can be moved and removed
/// in logarithmic time.
struct IndexedHeap: Sendable {
    struct Node: Sendable {
        var deadline: Int64
        var slot: UInt32

        /// Equal deadlines are in the order of their slots, so that the order is deterministic.
        func isBefore(_ other: Node) -> Bool {
            deadline != other.deadline ? deadline < other.deadline : slot < other.slot
        }
    }

    /// The nodes in heap order.
    private(set) var nodes: [Node] = []
    /// The place of each slot's node in `nodes`.
    private var places: [UInt32] = []
    private static let nowhere = UInt32.max

    var top: Node? { nodes.first }
    var count: Int { nodes.count }
    /// All slots, in no order.
    var slots: [UInt32] { nodes.map(\.slot) }

    func contains(_ slot: UInt32) -> Bool { Int(slot) < places.count && places[Int(slot)] != Self.nowhere }

    /// Inserts a slot, or changes its deadline.
    mutating func set(_ slot: UInt32, deadline: Int64) {
        while places.count <= Int(slot) { places.append(Self.nowhere) }
        let node = Node(deadline: deadline, slot: slot)
        var place = Int(places[Int(slot)])
        if places[Int(slot)] == Self.nowhere {
            place = nodes.count
            nodes.append(node)
        }
        settle(node, at: place)
    }

    /// Removes a slot, if it is there.
    mutating func remove(_ slot: UInt32) {
        guard contains(slot) else { return }
        let place = Int(places[Int(slot)])
        places[Int(slot)] = Self.nowhere
        let last = nodes.removeLast()
        if place < nodes.count { settle(last, at: place) }
    }

    /// Fills the hole at a place with a node, after moving the hole up or down to where the node belongs.
    private mutating func settle(_ node: Node, at start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard node.isBefore(nodes[parent]) else { break }
            put(nodes[parent], at: place)
            place = parent
        }
        while true {
            var child = 2 * place + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, nodes[child + 1].isBefore(nodes[child]) { child += 1 }
            guard nodes[child].isBefore(node) else { break }
            put(nodes[child], at: place)
            place = child
        }
        put(node, at: place)
    }

    private mutating func put(_ node: Node, at place: Int) {
        nodes[place] = node
        places[Int(node.slot)] = UInt32(place)
    }
}
