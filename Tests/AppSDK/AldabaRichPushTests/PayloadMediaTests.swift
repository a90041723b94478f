import AldabaTestSupport
import Foundation
import Testing

@testable import AldabaRichPush

struct PayloadMediaTests {
    private func userInfo(_ json: String) throws -> [AnyHashable: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test(arguments: [
        (
            #"{"ab":{"att":{"url":"https://e.example/a","type":"jpg"}}}"#,
            [PayloadMedia(url: "https://e.example/a", typeHint: "jpg")]
        ),
        (#"{"fcm_options":{"image":"https://e.example/b"}}"#, [PayloadMedia(url: "https://e.example/b")]),
        (
            #"{"att":{"two":"https://e.example/2","one":"https://e.example/1"}}"#,
            [
                PayloadMedia(identifier: "one", url: "https://e.example/1"),
                PayloadMedia(identifier: "two", url: "https://e.example/2"),
            ]
        ),
        (
            #"{"os_data":{"att":{"id":"https://e.example/c"}}}"#,
            [PayloadMedia(identifier: "id", url: "https://e.example/c")]
        ),
        (
            #"{"attachment-url":"https://e.example/d","attachment-type":"audio/mp4"}"#,
            [PayloadMedia(url: "https://e.example/d", typeHint: "audio/mp4")]
        ),
        (
            #"{"attachment-url":"https://e.example/d","ab":{"att":{"url":"https://e.example/d","type":"gif"}}}"#,
            [PayloadMedia(url: "https://e.example/d", typeHint: "gif")]
        ),
        (
            #"{"attachment-url":"https://e.example/d","fcm_options":{"image":"https://e.example/b"}}"#,
            [PayloadMedia(url: "https://e.example/b"), PayloadMedia(url: "https://e.example/d")]
        ),
    ])
    func `what a payload names is found, in each known way`(json: String, expected: [PayloadMedia]) throws {
        #expect(PayloadMedia.all(in: try userInfo(json)) == expected)
    }

    @Test(arguments: [
        "{}", #"{"ab":null}"#, #"{"ab":7}"#, #"{"ab":{"att":"https://e.example/a"}}"#,
        #"{"ab":{"att":{"type":"jpg"}}}"#,
        #"{"ab":{"att":{"url":7}}}"#, #"{"ab":{"att":{"url":""}}}"#, #"{"fcm_options":{"image":{"url":"x"}}}"#,
        #"{"fcm_options":[]}"#, #"{"att":["https://e.example/a"]}"#, #"{"att":{"id":7}}"#, #"{"os_data":{"att":null}}"#,
        #"{"attachment-url":["https://e.example/a"]}"#,
    ])
    func `a member of another type names nothing`(json: String) throws {
        #expect(PayloadMedia.all(in: try userInfo(json)).isEmpty)
    }

    @Test func `a type that is no text is none`() throws {
        let found = PayloadMedia.all(in: try userInfo(#"{"ab":{"att":{"url":"https://e.example/a","type":7}}}"#))
        #expect(found == [PayloadMedia(url: "https://e.example/a")])
    }

    @Test func `as many as may be are taken, and no more`() throws {
        let map = (0..<100).map { #""\#($0)":"https://e.example/\#($0)""# }.joined(separator: ",")
        #expect(PayloadMedia.all(in: try userInfo("{\"att\":{\(map)}}")).count == PayloadMedia.countLimit)
    }

    @Test(arguments: [
        (#"{"aldaba":{"fetch-spread":10}}"#, 10), (#"{"aldaba":{"fetch-spread":2.5}}"#, 2.5),
        (#"{"aldaba":{"fetch-spread":3600}}"#, 15), (#"{"aldaba":{"fetch-spread":-1}}"#, 0),
        (#"{"aldaba":{"fetch-spread":"10"}}"#, 0), (#"{"aldaba":10}"#, 0), ("{}", 0),
    ])
    func `the sender says over how many seconds devices spread themselves`(json: String, seconds: Double) throws {
        #expect(PayloadMedia.spread(in: try userInfo(json)) == seconds)
    }
}
