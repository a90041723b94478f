/// An expression over topics in reverse Polish notation: operands precede their operator.
package struct Condition<Topic: Hashable & Sendable>: Hashable, Sendable {
    /// A step of the evaluation.
    package enum Step: Hashable, Sendable {
        /// Whether the device is in a topic.
        case topic(Topic)
        /// Both of the two before it.
        case and
        /// The disjunction of the two values before it.
        case or
        /// Not the one before it.
        case not
    }

    /// The steps, of which the last leaves one value.
    package let steps: [Step]

    /// The condition of one topic.
    package init(_ topic: Topic) { steps = [.topic(topic)] }

    /// Takes steps; `nil` where they do not leave exactly one value.
    package init?(steps: [Step]) {
        var depth = 0
        for step in steps {
            switch step {
            case .topic: depth += 1
            case .and, .or:
                guard depth >= 2 else { return nil }
                depth -= 1
            case .not: guard depth >= 1 else { return nil }
            }
        }
        guard depth == 1 else { return nil }
        self.steps = steps
    }

    /// Whether the condition holds for a device that is in these topics.
    package func matches(_ isIn: (Topic) -> Bool) -> Bool {
        var values: [Bool] = []
        for step in steps {
            switch step {
            case .topic(let topic): values.append(isIn(topic))
            case .not: values.append(!(values.popLast() ?? false))
            case .and, .or:
                let (right, left) = (values.popLast() ?? false, values.popLast() ?? false)
                values.append(step == .and ? left && right : left || right)
            }
        }
        return values.last ?? false
    }

    /// The topic, where it is the condition of one alone.
    package var single: Topic? {
        guard steps.count == 1, case .topic(let topic) = steps[0] else { return nil }
        return topic
    }

    /// The topics that it names, each once, in the order in which they are named.
    package var topics: [Topic] {
        var found: [Topic] = []
        for case .topic(let topic) in steps where !found.contains(topic) { found.append(topic) }
        return found
    }

    /// Whether it holds for a device that is in none of its topics.
    package var holdsForNone: Bool { matches { _ in false } }

    /// The same condition with other names for its topics.
    package func map<Other>(_ name: (Topic) -> Other) -> Condition<Other> {
        Condition<Other>(
            mapped: steps.map { step in
                switch step {
                case .topic(let topic): .topic(name(topic))
                case .and: .and
                case .or: .or
                case .not: .not
                }
            })
    }

    init(mapped steps: [Step]) { self.steps = steps }
}

/// A condition over the names of topics, as senders write it: `'a' in topics && !('b' in topics)`.
package typealias TopicCondition = Condition<TopicName>

extension Condition<TopicNumber> {
    /// The steps as a store keeps them: `17 23 ! &`.
    package var text: String {
        steps.map { step in
            switch step {
            case .topic(let topic): String(topic.rawValue)
            case .and: "&"
            case .or: "|"
            case .not: "!"
            }
        }.joined(separator: " ")
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    package init?(text: String) {
        var steps: [Step] = []
        for word in text.split(separator: " ") {
            switch word {
            case "&": steps.append(.and)
            case "|": steps.append(.or)
            case "!": steps.append(.not)
            default:
                guard let number = Int64(word) else { return nil }
                steps.append(.topic(TopicNumber(rawValue: number)))
            }
        }
        self.init(steps: steps)
    }
}
