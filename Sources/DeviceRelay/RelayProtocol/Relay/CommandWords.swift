extension RelayContent {
    /// A summary of the command for the log, without an address and without a message's contents.
    public var summary: String {
        switch self {
        case .launch(let launch): "open \(launch.uri.prefix { $0 != ":" }.prefix(32))"
        case .call(let call): "call \(call.app)/\(call.service)"
        case .open(let app, let service, _): "connect \(app)/\(service)"
        case .offer(let offer):
            offer.app.map { "stream \($0)/\(offer.service ?? "")" } ?? "file \(offer.name)"
        default: "command"
        }
    }
}

extension RelayUndelivered {
    /// How a command ends that did not arrive for this reason.
    public var outcome: RelayOutcome {
        switch self {
        case .unknownDevice: RelayOutcome(.unknownDevice)
        case .unavailable: RelayOutcome(.notDelivered, detail: "the device is not connected")
        case .expired: RelayOutcome(.expired, detail: "its deadline came before it reached the device")
        case .asleep:
            RelayOutcome(.expired, detail: "a push was to wake the device, which did not come before the deadline")
        case .notWoken: RelayOutcome(.notDelivered, detail: "the device's push service could not wake it")
        case .overloaded:
            RelayOutcome(.resourceLimits, detail: "the device does not take messages as fast as they come")
        case .notJoined: RelayOutcome(.networkUnavailable, detail: "the server does not know this device's account")
        case .tooLarge: RelayOutcome(.tooLarge)
        case .full:
            RelayOutcome(.resourceLimits, detail: "as many messages as may be wait for the device at the server")
        case .notKept: RelayOutcome(.notDelivered, detail: "the server could not keep it; tell it again")
        case .begunAnew:
            RelayOutcome(.outcomeUnknown, detail: "the device has begun anew; ask again under the same id")
        case .untrusted:
            RelayOutcome(.notAuthorized, detail: "the device has not proven that it is one of yours; nothing was sent")
        }
    }
}
