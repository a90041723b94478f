import PushCore
import Testing

@testable import HubProtocol

private func installation(_ more: String) throws -> Installation {
    try InstallationJSON.read(
        try JSONValue(text: #"{"platform":"apns","pushChannel":"ab"\#(more)}"#), id: "i")
}

@Test(arguments: [
    "9998-12-31T23:59:59Z", "9998-12-31T23:59:59-23:59", "9999-12-31T23:59:59.9999999Z",
    "'9999-12-31T23:59:59-23:59'", "2030-01-01T00:00:00+23:59",
])
func `whatever an expiration is, the document that the store keeps is read again`(text: String) throws {
    let read = try installation(#","expirationTime":"\#(text)""#)
    let stored = try JSONValue(text: InstallationJSON.document(read).json)
    #expect(try InstallationJSON.read(stored, id: nil) == read)
}

@Test(arguments: [62, 63, 64])
func `tiles that a patch brings are as deep as the document can be read again`(depth: Int) throws {
    let tiles = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let patch = try JSONValue(text: #"[{"op":"add","path":"/secondaryTiles","value":"\#(tiles)"}]"#)
    let changed = try InstallationPatch.apply(patch, to: InstallationJSON.document(try installation("")))
    guard depth < 64 else {
        #expect {
            try InstallationJSON.read(changed, id: nil)
        } throws: { ($0 as? InstallationError)?.path == "/secondaryTiles" }
        return
    }
    let read = try InstallationJSON.read(changed, id: nil)
    #expect(try InstallationJSON.read(try JSONValue(text: InstallationJSON.document(read).json), id: nil) == read)
}
