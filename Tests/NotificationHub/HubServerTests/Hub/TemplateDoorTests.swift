import HubProtocol
import Testing

@testable import HubServer

/// An installation of one template or several, with push variables.
private func installation(_ templates: [String: String], variables: [String: String] = [:]) throws -> Installation {
    var read = Installation(id: "i", platform: .gcm, channel: .handle("c"))
    read.templates = templates.sorted { $0.key < $1.key }.map { InstallationTemplate(name: $0, body: $1) }
    read.pushVariables = variables
    return read
}

private func path(_ world: HubWorld, _ installation: Installation) -> String? {
    do { try world.hubs.validate(installation) } catch { return error.path }
    return nil
}

@Test func `an installation with more in its templates than is taken is refused, and told where`() async throws {
    let world = try await HubWorld()
    let long = #"{"k":""# + String(repeating: "x", count: 20_000) + #""}"#
    #expect(path(world, try installation(["a": long, "b": long, "c": long])) == nil)
    #expect(path(world, try installation(["a": long, "b": long, "c": long, "d": long])) == "/templates")
    let many = #"{"k":["# + Array(repeating: #""$(p)""#, count: 257).joined(separator: ",") + "]}"
    #expect(path(world, try installation(["a": "{}", "b": many])) == "/templates/b/body")
    var foreign = try installation(["a": "{}"])
    foreign.templates[0].locales = [.init("de", .string(many))]
    #expect(path(world, foreign) == "/templates/a/locales/de/body")
    var twice = try installation(["a": "{}"])
    twice.templates += twice.templates
    #expect(path(world, twice) == "/templates/a")
}

@Test func `push variables have so many bytes together, and are so many`() async throws {
    let world = try await HubWorld()
    let half = String(repeating: "x", count: 8191)
    #expect(path(world, try installation([:], variables: ["a": half, "b": half])) == nil)
    #expect(path(world, try installation([:], variables: ["a": half, "b": half + "x"])) == "/pushVariables")
    let names = (0...128).map { ("v\($0)", "") }
    #expect(path(world, try installation([:], variables: Dictionary(uniqueKeysWithValues: names))) == "/pushVariables")
}

@Test func `templates from before the limits may stay, and others may change beside them`() async throws {
    let world = try await HubWorld()
    let many = #"{"k":["# + Array(repeating: #""$(p)""#, count: 257).joined(separator: ",") + "]}"
    let before = InstallationJSON.document(try installation(["a": many]))
    var changed = before
    changed.set("tags", .array([.string("news")]))
    try world.hubs.validate(changed, insteadOf: before, id: "i")
}
