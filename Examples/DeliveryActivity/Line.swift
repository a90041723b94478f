import ActivityKit

/// A line of the output.
struct Line: Encodable {
    var event: String
    var id: String?
    var order: String?
    var token: String?
    var content: DeliveryAttributes.ContentState?
    var state: ActivityState?
    var message: String?

    static func startToken(_ token: Data) -> Line { Line(event: "startToken", token: hex(token)) }
    static func pushToken(_ token: Data, of id: String) -> Line { Line(event: "pushToken", id: id, token: hex(token)) }

    private static func hex(_ token: Data) -> String { token.map { String(format: "%02x", $0) }.joined() }

    /// Prints the line as JSON.
    func print() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            Swift.print(String(decoding: try encoder.encode(self), as: UTF8.self))
        } catch {
            Swift.print(#"{"event":"error","message":"a line cannot be written"}"#)
        }
    }
}

/// Why a command is not performed.
enum CommandError: Error, CustomStringConvertible {
    case unknown(String)
    case noActivity(String)
    case noValue(String)

    var description: String {
        switch self {
        case .unknown(let line):
            "no command: \(line); there are start NAME, start NAME channel ID, update ID key=value…, end ID, quit"
        case .noActivity(let id): "no activity has the id \(id)"
        case .noValue(let text): "not a value of driverName, minutes or progress: \(text)"
        }
    }
}
