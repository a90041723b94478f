import Foundation
import PushServer
import Testing

/// Bodies with the coding `gzip`, as Python's zlib writes them.
@Suite struct GzipBodyTests {
    private static let message = #"{"message": {"token": "t", "data": {"k": "\#(String(repeating: "v", count: 50))"}}}"#
    private static let fixed = "H4sIAAAAAAACA6tWyk0tLk5MT1WyUqhWKsnPTs0DspRKlHQUlFISSxLBwtkgoTKSgVJtbS0ATrOSzWAAAAA="
    private static let stored =
        "H4sIAAAAAAAEAwFgAJ//eyJtZXNzYWdlIjogeyJ0b2tlbiI6ICJ0IiwgImRhdGEiOiB7ImsiOiAidnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnYifX19TrOSzWAAAAA="
    private static let named =
        "H4sICAAAAAAC/2EuanNvbgCrVspNLS5OTE9VslKoVirJz07NA7KUSpR0FJRSEksSwcLZIKEykoFSbW0tAE6zks1gAAAA"
    private static let dynamic =
        "H4sIAAAAAAACA23ZOwokVxBE0a3MAmR0RtR3O4JBziCBNPtHfp90n3Vpquu8zPr8+Ovfnz///vHnP79///r53x8/5vsg3wf9Pji+D87vg+v74P4+eL4PXsI+nNA6xA61Q+7QOwQPxUPy0Bya4+9Lc2gOzaE5NIfm0ByaS3Nprg8FzaW5NJfm0lyaS/NB80HzQfPhk0zzQfNB80HzQfNB80nzSfNJ80nz6d+P5pPmk+aT5pPmi+aL5ovmi+aL5st3Bs0XzRfNF803zTfNN803zTfNN823Lzqab5pvmh+aH5ofmh+aH5ofmh+aH9/OND80vzS/NL80vzS/NL80vzS/NL+SspgiKh9V+cjKR1c+wvJRlo+0fLTlIy4f6zcSrV9QXFRcWFxcXGBcZFxo1MYRx8kiuvX6OAI5CjkSORo5IjkqOTI5OjldLiTWS+Vo5YjlqOXI5ejlCOYo5kjmHMt9ynrVHNkc3RzhHOUc6RztHPEc9ZxzuQ5aL6CjoCOho6EjoqOiI6OjoyOkcy23Weu1dMR01HTkdPR0BHUUdSR1NHXu5TJuvayOro6wjrKOtI62jriOuo68zrPMEtYr7EjsaOyI7KjsyOzo7AjtKO28yyi0zEIOQ1obrY3WRmujtdHaaG20NlqbWUY567U2WhutjdZGa6O10dosc+gyiG6TqPXLLLoMo8s0uoyjyzy6DKRaG62N1qbLIG291kZro7XR2mhttDZaG62N1uZY9gDWa220NlobrY3WRmujtdHaaG3OZY1hvdZGa6O10dpobbQ2WhutjdbmWrYw1mtttDZaG62N1kZro7XR2mht7mWJZL3WRmujtdHaaG20NlobrY3W5ll2YNZrbbQ2WhutjdZGa6O10dpobd5lhbfs8FziaW21tlpbra3WVmurtdXaam1nWUFar7XV2mpttbZaW62t1lZrq7XNskG1XmurtdXaam21tlrbZfu7rH+X/e+2ALZ+WQEvO+BlCbxsgZc1sNZWa6u11doey/7aeq2t1lZrq7XV2mpttbZaW63tuazfrdfaam21tlpbra3WVmurtdXaXsvXA+u1tlpbra3WVmurtdXaam21tvfy8cN6ra3WVmurtdXaam21tlpbre2zfLuxXmurtdXaam21tlpbra3WVmv7Lp+eqP8fZZ7IiUIdAAA="
    private static let bottles = (0..<400).map { "\($0) green bottles, " }.joined()

    private static func bytes(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: text))) }

    @Test(arguments: [(fixed, message), (stored, message), (named, message), ("H4sIAAAAAAACAwMAAAAAAAAAAAA=", "")])
    func `every kind of block is read`(coded: String, text: String) throws {
        #expect(try GzipBody.decoded(Self.bytes(coded), limit: 100) == Array(text.utf8))
    }

    @Test func `no more bytes are made than are taken`() throws {
        let coded = try Self.bytes(Self.dynamic)
        let text = Array(Self.bottles.utf8)
        #expect(try GzipBody.decoded(coded, limit: text.count) == text)
        #expect(throws: GzipBody.Fault.tooLarge) { try GzipBody.decoded(coded, limit: text.count - 1) }
    }

    @Test(arguments: [fixed, stored, dynamic])
    func `a body that was cut or changed anywhere is refused`(coded: String) throws {
        let whole = try Self.bytes(coded)
        for end in 0..<whole.count {
            #expect(throws: GzipBody.Fault.malformed) { try GzipBody.decoded(Array(whole[..<end]), limit: 1 << 16) }
        }
        #expect(throws: GzipBody.Fault.malformed) { try GzipBody.decoded(whole + [0], limit: 1 << 16) }
        let text = try GzipBody.decoded(whole, limit: 1 << 16)
        for place in 0..<whole.count {
            var changed = whole
            changed[place] ^= 0x10
            // A few bits, such as those behind the end of the last code, mean nothing.
            if let decoded = try? GzipBody.decoded(changed, limit: 1 << 16) { #expect(decoded == text) }
        }
    }
}
