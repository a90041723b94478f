// Each step of Rome's guide for iOS: `RelayGuide serve` on one device, `RelayGuide call` on another. And streams, which the guide has not:
// `RelayGuide take FILE` on one device, `RelayGuide give FILE` on another. `RelayGuide hold` asks what is never answered, to show the life of
// a command: with the line `cancel` it is taken back. `RelayGuide values` asks with values of every kind, and tells which came back as they
// were. `RelayGuide find ID` finds a device by its id. `RelayGuide tell` sends a message that wants no answer, and tells what came of it.
// `RelayGuide printed` takes the guide's steps in its own forms. `RelayGuide watch` tells which devices come and change, until it is ended.
// `RelayGuide documents` tells which documents there are and what changes, and counts a page on with each line that it reads.

import ConnectedDevices
import Foundation
import Synchronization

let service = "guide"
let app = "com.example.relay-guide"

/// Answers a ping with a pong, asks back when it is told to, and keeps what it is told to hold.
struct PingProvider: AppServiceProvider {
    let held: Held
    var appServiceInfo: AppServiceInfo { AppServiceInfo(name: service, packageId: app) }

    func connectionDidOpen(_ info: AppServiceConnectionOpenedInfo) {
        let connection = info.connection
        connection.requestReceived.subscribe { [weak connection] request in
            if request.message["Type"] as? String == "hold" {
                request.canceled.subscribe { say("not wanted any more") }
                held.keep(request)
                return say("holds")
            }
            if request.isOneWay {
                return say(
                    "told: \(request.message["Word"] ?? "nothing") by \(info.callerAppId ?? "nobody") \(request.id)")
            }
            var answer = request.message
            answer["Type"] = "pong"
            answer["Caller"] = info.callerAppId
            request.sendResponse(answer)
            if request.message["Type"] as? String == "close" { connection?.close() }
            guard let connection, request.message["AskBack"] as? Bool == true else { return }
            Task {
                let reply = await connection.sendMessage(["Type": "question"])
                say("asked back: \(reply.status) \(reply.message["Type"] ?? "nothing")")
            }
        }
        connection.serviceClosed.subscribe { say("closed: \($0)") }
    }
}

/// Requests that are not answered.
final class Held: Sendable {
    private let requests = Mutex<[AppServiceRequest]>([])
    func keep(_ request: AppServiceRequest) { requests.withLock { $0.append(request) } }
}

/// Opens `guide:` addresses by printing them.
struct GuideLauncher: LaunchUriProvider {
    var supportedUriSchemes: [String]? { ["guide"] }

    func onLaunchUri(_ uri: String, options: RemoteLauncherOptions) async -> Bool {
        say("launched: \(uri)")
        return !uri.hasSuffix("refuse")
    }
}

/// Puts a stream into a file; what the file holds already need not come again.
struct StreamTaker: AppServiceProvider {
    let file: URL
    var appServiceInfo: AppServiceInfo { AppServiceInfo(name: "streams", packageId: app) }

    func connectionDidOpen(_ info: AppServiceConnectionOpenedInfo) { info.connection.close() }

    func streamDidArrive(_ stream: IncomingStream) {
        Task {
            do {
                if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
                var there = StreamPosition()
                there.append(try Data(contentsOf: file))
                let begin = there.offset
                let handle = try FileHandle(forWritingTo: file)
                try await stream.receive(after: there) { offset, piece in
                    if offset == 0 { try handle.truncate(atOffset: 0) }
                    if offset == 0 || offset == begin { say("from \(offset)") }
                    try handle.seek(toOffset: UInt64(offset))
                    try handle.write(contentsOf: piece)
                }
                say("taken: \(stream.name) \(stream.size)")
            } catch { say("not taken: \(error)") }
        }
    }
}

@Sendable func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }

// 1. Say who answers questions for tokens and hears of the registration, start the platform, add the account, and register for being woken.
// The agent has its own credential and wakes apps itself: no token is asked for, and a push that comes to the app is the app's own.
let platform = ConnectedDevicesPlatform.shared
let registered = Mutex<[ConnectedDevicesNotificationRegistrationState]>([])
platform.accountManager.accessTokenRequested.subscribe { $0.complete(withErrorMessage: "nobody signs in here") }
platform.accountManager.accessTokenInvalidated.subscribe { say("a token for \($0.scopes) is of no use any more") }
platform.notificationRegistrationManager.registrationStateChanged.subscribe { changed in
    registered.withLock { $0.append(changed.state) }
}
platform.start()
guard await platform.accountManager.add(.device) == .success else {
    say("no agent answers")
    exit(1)
}
let pushes = ConnectedDevicesNotificationRegistration(type: .polling, appId: app, appDisplayName: "Guide")
let registering = await platform.notificationRegistrationManager.register(pushes)
guard registering == .success else {
    say("registered: \(registering)")
    exit(1)
}

/// What the guide does with each push: the library's are handed to the platform.
@MainActor func receive(_ push: [AnyHashable: Any]) async -> Bool {
    guard let notification = ConnectedDevicesNotification.tryParse(push) else { return false }
    let operation = platform.processNotification(notification)
    await operation.waitForCompletion()
    return operation.isConnectedDevicesNotification
}

if CommandLine.arguments.dropFirst().first == "serve" {
    // 2. Say what this app offers, and publish it.
    let registration = RemoteSystemAppRegistration.getForAccount()
    registration.attributes = ["Purpose": "guide"]
    registration.appServiceProviders = [PingProvider(held: Held())]
    registration.launchUriProvider = GuideLauncher()
    say("published: \(await registration.publish())")
    while true { try await Task.sleep(for: .seconds(3600)) }
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "take" {
    let registration = RemoteSystemAppRegistration.getForAccount()
    registration.appServiceProviders = [StreamTaker(file: URL(fileURLWithPath: CommandLine.arguments[2]))]
    say("published: \(await registration.publish())")
    while true { try await Task.sleep(for: .seconds(3600)) }
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "find" {
    let other = await RemoteSystem.find(id: CommandLine.arguments[2])
    say("found: \(other?.apps.flatMap(\.appServices).map { "\($0.packageId)/\($0.name)" } ?? [])")
    exit(0)
}

if CommandLine.arguments.dropFirst().first == "printed" {
    let forms: any PrintedSteps = PrintedForms()
    await forms.run()
    exit(0)
}

if CommandLine.arguments.dropFirst().first == "watch" {
    let watcher = RemoteSystemWatcher()
    watcher.remoteSystemAdded.subscribe { say("added: \($0.displayName)") }
    watcher.remoteSystemUpdated.subscribe { say("updated: \($0.apps.map(\.id))") }
    watcher.enumerationCompleted.subscribe { _ in say("enumerated") }
    watcher.errorOccurred.subscribe { say("watching: \($0)") }
    watcher.start()
    while true { try await Task.sleep(for: .seconds(3600)) }
}

if CommandLine.arguments.dropFirst().first == "documents" {
    let channel = UserDocumentChannel.getForAccount()
    let changes = try await channel.changes()
    say("there: \(try await channel.documents().map { "\($0.name) \($0.revision)" })")
    // Reading lines keeps this thread.
    Task.detached {
        for await change in changes {
            switch change {
            case .put(let document):
                say("put: \(document.name) \(document.revision) \(document.content["page"] ?? "nothing")")
            case .removed(let name, let revision): say("removed: \(name) \(revision)")
            case .unreadable: say("one that does not open")
            case .missed: say("some were missed")
            }
        }
    }
    while let name = readLine() {
        let document = try await channel.document(named: name)
        let page = document?.content["page"] as? Int ?? 0
        do {
            say("kept: \(try await channel.put(["page": page + 1], as: name, over: document?.revision ?? 0))")
            // One that names an older revision is refused.
            try await channel.put(["page": 0], as: name, over: document?.revision ?? 0)
        } catch { say("not kept: \(error)") }
    }
    exit(0)
}

// 3. Discover devices, until one with this app is there.
let watcher = RemoteSystemWatcher(filters: [.statusType(.available), .platform([.linux])])
let (found, finding) = AsyncStream.makeStream(of: RemoteSystemApp.self)
let look: @Sendable (RemoteSystem) -> Void = { system in
    if let other = system.apps.first(where: { $0.id == app }) { finding.yield(other) }
}
watcher.remoteSystemAdded.subscribe(look)
watcher.remoteSystemUpdated.subscribe(look)
watcher.enumerationCompleted.subscribe { _ in say("enumerated") }
watcher.errorOccurred.subscribe { say("watching: \($0)") }
watcher.start()
guard let other = await found.first(where: { _ in true }) else { exit(1) }
watcher.stop()
say("found: \(other.displayName) \(other.status) \(other.attributes["Purpose"] ?? "")")
let request = RemoteSystemConnectionRequest(remoteSystemApp: other)

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "give" {
    let file = URL(fileURLWithPath: CommandLine.arguments[2])
    let given = await RemoteStream.send(
        try FileStreamSource(file), named: file.lastPathComponent, to: AppServiceInfo(name: "streams", packageId: app),
        request: request)
    say("given: \(given.status)")
    exit(given.status == .success ? 0 : 1)
}

if CommandLine.arguments.dropFirst().first == "hold" {
    let command = RemoteCommand()
    let holding = Task.detached {
        await AppServiceConnection.sendStatelessMessage(
            ["Type": "hold"], to: AppServiceInfo(name: service, packageId: app), request: request, as: command,
            within: .seconds(120))
    }
    while try await command.life() != .executing { try await Task.sleep(for: .milliseconds(20)) }
    say("executing \(command.id)")
    if readLine() == "cancel" { holding.cancel() }
    let response = await holding.value
    let life = (try? await command.life())?.rawValue ?? "not known"
    say("hold: \(response.status), \(life)")
    exit(0)
}

if CommandLine.arguments.dropFirst().first == "tell" {
    let command = RemoteCommand()
    let response = await AppServiceConnection.sendOneWayMessage(
        ["Word": "hello"], to: AppServiceInfo(name: service, packageId: app), request: request, as: command,
        timeToLive: .seconds(3600))
    say("told: \(response.status) \(command.id)")
    while try await command.life() == .sent { try await Task.sleep(for: .milliseconds(20)) }
    say("life: \(try await command.life()?.rawValue ?? "not known")")
    exit(0)
}

if CommandLine.arguments.dropFirst().first == "values" {
    let date = Date(timeIntervalSince1970: 1_790_000_000.125)
    let id = UUID()
    let sent: ValueSet = [
        "text": "añ\u{0}😀", "large": Int64(1) << 53 + 1, "least": Int64.min, "whole": 1.0, "third": 1.0 / 3,
        "yes": true,
        "no": false, "date": date, "id": id, "data": Data([0, 1, 255]), "numbers": [1, 2, 3], "words": ["a", "b"],
        "nested": ["deep": ["list": [1.5, 2.0]]],
    ]
    let response = await AppServiceConnection.sendStatelessMessage(
        sent, to: AppServiceInfo(name: service, packageId: app), request: request)
    let back = response.message
    let nested = ((back["nested"] as? ValueSet)?["deep"] as? ValueSet)?["list"]
    let isSame: [String: Bool] = [
        "text": back["text"] as? String == "añ\u{0}😀", "large": back["large"] as? Int == 1 << 53 + 1,
        "least": back["least"] as? Int == .min, "whole": back["whole"] as? Double == 1,
        "yes": back["yes"] as? Bool == true,
        "third": back["third"] as? Double == 1.0 / 3, "no": back["no"] as? Bool == false,
        "date": back["date"] as? Date == date,
        "id": back["id"] as? UUID == id, "data": back["data"] as? Data == Data([0, 1, 255]),
        "numbers": back["numbers"] as? [Int] == [1, 2, 3], "words": back["words"] as? [String] == ["a", "b"],
        "nested": nested as? [Double] == [1.5, 2], "whole is no integer": !(back["whole"] is Int),
    ]
    say("values: \(response.status), others: \(isSame.filter { !$0.value }.keys.sorted())")
    exit(0)
}

// 4. What stands of the registration, and what becomes of a push; open addresses there.
say(
    "registered: \(registered.withLock { $0.map { "\($0)" } }), the push is the library's: \(await receive(["aps": ["alert": "hello"]]))"
)
let launcher = RemoteLauncher()
for uri in ["guide:hello", "guide:refuse", "https://example.org/guide", "tel:1", "file:///etc/passwd"] {
    say("launch \(uri): \(await launcher.launchUri(uri, with: request))")
}

// 5. Open a connection, send a ping, and print the round trip.
let connection = AppServiceConnection(appServiceInfo: other.appServices.first)
connection.requestReceived.subscribe { $0.sendResponse(["Type": "answer"]) }
say("open: \(try await connection.openRemote(request))")
do { _ = try await connection.openRemote(request) } catch { say("open again: \(error)") }
let created = Date(timeIntervalSince1970: 1_790_000_000.125)
let target = UUID()
let response = await connection.sendMessage([
    "Type": "ping", "CreationDate": created, "TargetId": target, "AskBack": true,
])
let isSame = response.message["CreationDate"] as? Date == created && response.message["TargetId"] as? UUID == target
say(
    "ping: \(response.status) \(response.message["Type"] ?? "nothing") \(isSame) \(response.message["Caller"] ?? "nobody")"
)

// 6. What cannot be sent is refused at once.
let mixed: [any Sendable] = [1, "two"]
let refused = await connection.sendMessage(["numbers": mixed])
say("mixed: \(refused.status) \(refused.detail ?? "")")
let large = await connection.sendMessage(["data": Data(count: 70_000)])
say("large: \(large.status)")

// 7. One message by itself, one for a service that is not there, and the close.
let stateless = await AppServiceConnection.sendStatelessMessage(
    ["Type": "ping"], to: AppServiceInfo(name: service, packageId: app), request: request)
say("stateless: \(stateless.status) \(stateless.message["Type"] ?? "nothing")")
let absent = await AppServiceConnection.sendStatelessMessage(
    [:], to: AppServiceInfo(name: "absent", packageId: app), request: request)
say("absent: \(absent.status)")
connection.close()
say("after close: \(await connection.sendMessage([:]).status)")
try await Task.sleep(for: .milliseconds(200))
platform.shutdown()
