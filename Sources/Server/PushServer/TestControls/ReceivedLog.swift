import NIOCore
import PushCore

/// The requests of providers that are remembered, the newest of them. A value without I/O.
struct ReceivedLog: Sendable {
    /// The maximum number of requests.
    let limit: Int
    /// The maximum of their bytes, approximately.
    let byteLimit: Int
    private var requests = CircularBuffer<ReceivedRequest>()
    private var bytes = 0
    /// The highest number given so far.
    private(set) var last = 0
    /// The number of requests that the bounds have dropped.
    private(set) var forgotten = 0
    /// The states of notifications, and their requests. A state may be known before its request's answer is.
    private var states: [NotificationID: String] = [:]
    private var numbers: [NotificationID: Int] = [:]
    /// The first copies of sends to topics, by the send. They may be made before the request has its answer.
    private var copies: [NotificationID: [NotificationID]] = [:]
    /// The maximum number of copies of a send that are kept.
    static let copyLimit = 20
    /// The ids of ``states`` in the order of their coming, for the bound.
    private var ids: [NotificationID] = []
    private var idStart = 0

    init(limit: Int = 10_000, byteLimit: Int = 32 << 20) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    /// The requests, the newest first.
    var newestFirst: some Sequence<ReceivedRequest> { requests.reversed() }

    /// Remembers a request.
    ///
    /// - Returns: The number of the request.
    mutating func append(_ request: ReceivedRequest) -> Int {
        last += 1
        var request = request
        request.number = last
        requests.append(request)
        bytes += request.cost
        while requests.count > limit || (bytes > byteLimit && requests.count > 1) {
            let dropped = requests.removeFirst()
            bytes -= dropped.cost
            for each in dropped.accepted { forget(each.id) }
            forgotten += 1
        }
        return last
    }

    /// The request with a number, unless it was forgotten.
    func request(_ number: Int) -> ReceivedRequest? { index(number).map { requests[$0] } }

    private func index(_ number: Int) -> CircularBuffer<ReceivedRequest>.Index? {
        // Numbers ascend, and only a reset leaves some out.
        var (low, high) = (0, requests.count)
        while low < high {
            let middle = (low + high) / 2
            if requests[requests.index(requests.startIndex, offsetBy: middle)].number < number {
                low = middle + 1
            } else {
                high = middle
            }
        }
        let index = requests.index(requests.startIndex, offsetBy: low)
        return low < requests.count && requests[index].number == number ? index : nil
    }

    /// Changes a request, unless it was forgotten.
    mutating func update(_ number: Int, _ change: (inout ReceivedRequest) -> Void) {
        guard let index = index(number) else { return }
        bytes -= requests[index].cost
        change(&requests[index])
        bytes += requests[index].cost
    }

    /// Adds a notification to the request that it was made of.
    mutating func add(_ accepted: ReceivedRequest.Accepted, to number: Int) {
        guard index(number) != nil else { return }
        update(number) { $0.accepted.append(accepted) }
        numbers[accepted.id] = number
        if states[accepted.id] == nil { _ = set(accepted.id, NotificationState.accepted.text) }
    }

    /// Records the state of a notification.
    ///
    /// - Returns: The number of its request, where that is known.
    mutating func set(_ id: NotificationID, _ state: String) -> Int? {
        if states.updateValue(state, forKey: id) == nil {
            ids.append(id)
            if ids.count - idStart > 2 * limit {
                let oldest = ids[idStart]
                idStart += 1
                // The notifications of a remembered request end with it.
                if numbers[oldest].flatMap(index) == nil { forget(oldest) }
            }
            if idStart > limit {
                ids.removeFirst(idStart)
                idStart = 0
            }
        }
        return numbers[id]
    }

    private mutating func forget(_ id: NotificationID) {
        states[id] = nil
        numbers[id] = nil
        copies[id] = nil
    }

    /// Adds the copy of a send to a topic that was made for one device.
    ///
    /// - Returns: The number of the request, where that is known.
    mutating func addCopy(_ id: NotificationID, of send: NotificationID) -> Int? {
        // The send is forgotten with the oldest ids, also one of a hub's, which no request has.
        if states[send] == nil { _ = set(send, NotificationState.accepted.text) }
        _ = set(id, NotificationState.accepted.text)
        guard copies[send, default: []].count < Self.copyLimit else { return nil }
        copies[send, default: []].append(id)
        guard let number = numbers[send] else { return nil }
        add(ReceivedRequest.Accepted(id: id, app: "", payload: []), to: number)
        return number
    }

    /// The copies of a send to a topic so far.
    func copies(of send: NotificationID) -> [NotificationID] { copies[send] ?? [] }

    /// The state of a notification.
    func state(of id: NotificationID) -> String? { states[id] }

    /// The state of a request: that of its first notification (of a send to a topic that of the first copy), else `refused`,
    /// `answered` or `open`.
    func state(of request: ReceivedRequest) -> String {
        let isSend = request.accepted.first.map { copies[$0.id] != nil } ?? false
        if let first = isSend ? request.accepted.dropFirst().first ?? request.accepted.first : request.accepted.first {
            return states[first.id] ?? NotificationState.accepted.text
        }
        guard let answer = request.answer else { return "open" }
        if request.content.interface == .binary { return answer.status == 0 ? "answered" : "refused" }
        return answer.status < 300 ? "answered" : "refused"
    }

    /// Forgets the requests of a namespace, or all.
    ///
    /// - Returns: The number of those that were forgotten.
    mutating func forget(namespace: String?) -> Int {
        let before = requests.count
        guard let namespace else {
            self = ReceivedLog(after: self)
            return before
        }
        for request in requests where request.parties.namespace == namespace {
            for each in request.accepted { forget(each.id) }
        }
        requests = CircularBuffer(requests.filter { $0.parties.namespace != namespace })
        bytes = requests.reduce(0) { $0 + $1.cost }
        return before - requests.count
    }

    private init(after other: ReceivedLog) {
        self.init(limit: other.limit, byteLimit: other.byteLimit)
        last = other.last
    }
}
