import AgentProtocol

/// The first frame that an app writes to the agent's socket.
func greeting(app: BundleID) throws(AgentFrameError) -> [UInt8] {
    try AgentFrame.encode(AppMessage.hello(version: AgentFrame.version, app: app, secret: nil))
}

/// The messages that a piece of what the agent says completes; a piece may end anywhere.
func messages(in piece: [UInt8], by decoder: inout AgentFrameDecoder) throws(AgentFrameError) -> [AgentMessage] {
    decoder.append(piece)
    var messages: [AgentMessage] = []
    while let frame = try decoder.next() { messages.append(try AgentMessage(frame: frame)) }
    return messages
}
