import ControlAPI
import PushCore
import PushServer

/// Faults that tests set, queries for received requests and advances of a clock: none may trap; a fault that is shown reads the
/// same again.
enum TestControlsFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        let text = String(decoding: bytes, as: UTF8.self)
        if let fault = try? FaultDocument.fault(bytes) { checkFault(fault) }
        if let query = try? ReceivedQuery(text) {
            precondition(
                (1...1000).contains(query.limit) && (.zero ... .seconds(60)).contains(query.timeout), "no bound")
        }
        if let duration = TestDuration.read(text) {
            precondition(duration > .zero && duration <= TestClock.limit, "an advance without a bound")
        }
        checkRequest(bytes)
    }

    private static func checkFault(_ fault: Fault) {
        guard var json = try? JSONValue(object: FaultDocument.json(fault).bytes) else {
            preconditionFailure("a fault is shown as what is no JSON")
        }
        for name in ["id", "matched", "used"] { json.set(name, nil) }
        guard let again = try? FaultDocument.fault(json.bytes) else {
            preconditionFailure("a fault that is shown cannot be read")
        }
        precondition(
            again.selection == fault.selection && again.reply == fault.reply, "a fault changes when it is shown")
    }

    /// Any body is remembered, and looked at for what an alert says.
    private static func checkRequest(_ bytes: [UInt8]) {
        for interface in ReceivedRequest.Interface.allCases {
            let request = ReceivedRequest(
                at: Timestamp(rawValue: 0),
                content: ReceivedRequest.Content(
                    interface: interface, connection: 0, method: "POST", path: "/", fields: [], body: bytes),
                parties: ReceivedRequest.Parties())
            precondition(request.json == nil || request.json?.members != nil, "a body that is no object has members")
            _ = (request.title, request.text, request.app)
        }
    }
}
