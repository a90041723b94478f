import Foundation
import HubProtocol
import HubServer
import PushCore

/// The rate at which a hub takes installations from JSON Lines: reading alone, and with the store, in slices of the size of
/// `aldaba hub import`, each one transaction. Then the same lines once more, which are all known by then.
@main
enum ImportRate {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let rows = Int(arguments[2]), rows > 0 else {
            print("usage: ImportRate FOLDER ROWS")
            exit(2)
        }
        let folder = URL(fileURLWithPath: arguments[1])
        let file = folder.appendingPathComponent("installations.jsonl")
        var random = SystemRandomNumberGenerator()
        var text = Data()
        for number in 0..<rows { text += Data((line(number, &random) + "\n").utf8) }
        try text.write(to: file)
        var result: [String: Any] = ["rows": rows]
        let now = Timestamp(seconds: 1_800_000_000)
        var clock = ContinuousClock.now
        let source = try FileHandle(forReadingFrom: file)
        var lines = InstallationLines { try source.read(upToCount: $0) ?? Data() }
        var read = 0
        while case let slice = try lines.next(InstallationLines.slice), !slice.isEmpty {
            read += InstallationLines.installations(slice, at: now).0.count
        }
        result["readPerSecond"] = rate(read, since: clock)
        let database = try HubDatabase(path: folder.appendingPathComponent("hub.sqlite").path)
        let added = try await database.addHub(
            name: "rate", team: TeamID(rawValue: "TEAM000001"), topic: Topic(rawValue: "com.example.rate"),
            isStrict: false, keys: [], at: now)
        guard let hub = added else { exit(1) }
        try await database.prepareImport()
        for pass in ["addedPerSecond", "putAgainPerSecond"] {
            clock = ContinuousClock.now
            let handle = try FileHandle(forReadingFrom: file)
            var lines = InstallationLines { try handle.read(upToCount: $0) ?? Data() }
            var put = 0
            var next = try lines.next(InstallationLines.slice)
            var reading = Task { [next] in InstallationLines.installations(next, at: now) }
            while !next.isEmpty {
                let (installations, _) = await reading.value
                next = try lines.next(InstallationLines.slice)
                reading = Task { [next] in InstallationLines.installations(next, at: now) }
                _ = try await database.importAll(installations, hub: hub.number, at: now)
                put += installations.count
            }
            result[pass] = rate(put, since: clock)
        }
        try database.close()
        let told = try JSONSerialization.data(withJSONObject: result, options: [.sortedKeys])
        print(String(decoding: told, as: UTF8.self))
    }

    private static func rate(_ rows: Int, since begin: ContinuousClock.Instant) -> Double {
        let (whole, part) = (ContinuousClock.now - begin).components
        return Double(rows) / (Double(whole) + Double(part) / 1e18)
    }

    private static func line(_ number: Int, _ random: inout SystemRandomNumberGenerator) -> String {
        let token = (0..<4).map { _ in String(UInt64.random(in: .min ... .max, using: &random), radix: 16) }.joined()
        return """
            {"installationId":"\(UUID().uuidString)","platform":"apns","pushChannel":"\(token)","userId":"user\(number / 2)",\
            "tags":["weather","city:\(number % 1000)","plan:\(number % 3)"],"locale":"de-AT","timeZone":"Europe/Vienna",\
            "appVersion":"2.\(number % 10)"}
            """
    }
}
