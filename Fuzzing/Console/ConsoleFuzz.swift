#if DEBUG
    import PushCore

    @testable import APNsFrontend
    @testable import Console
    @testable import PushServer

    /// What browsers and people give to the console: forms with files, payloads that are pasted, pushes, and the keys of an OpenID
    /// provider. None may trap; a form that is read and written again stays the same.
    enum ConsoleFuzz: FuzzTest {
        /// A token whose signature no key has made.
        private static let token = try? JSONWebToken(Array("eyJhbGciOiJSUzI1NiJ9.e30.AAAA".utf8))

        static func run(_ input: UnsafeBufferPointer<UInt8>) {
            let bytes = Array(input)
            if let parts = try? MultipartForm.parts(of: bytes, boundary: "b") {
                precondition(parts.reduce(0) { $0 + $1.bytes.count } <= bytes.count, "parts are longer than their form")
                if let form = try? ComposeForm(parts) { checkForm(form) }
            }
            if let push = try? PushDocument(bytes) {
                precondition(push.headers.allSatisfy { $0.name.hasPrefix("apns-") }, "a field that is not of APNs")
            }
            guard let tree = try? JSONValue(bytes) else { return }
            checkForm(PayloadFileReader.form(tree))
            checkData(tree.members ?? [])
            if let token { precondition(!OpenIDKeys(tree).signed(token), "a key has signed what nobody signed") }
        }

        private static func checkForm(_ form: ComposeForm) {
            precondition(form.languages.count <= ComposeForm.mostLanguages, "languages without a bound")
            let message = ComposedMessage(form)
            precondition(ComposedMessage(message.fields) == message, "a form changes when it is shown again")
            _ = try? message.content()
        }

        /// Data that the form shows reads the same again.
        private static func checkData(_ members: [JSONValue.Member]) {
            guard !members.isEmpty, Set(members.map(\.name)).count == members.count else { return }
            let text = ComposedData.text(members).replacing("\r\n", with: "\n")
            precondition((try? ComposedData.members(text)) == members, "data changes when it is shown")
        }
    }
#endif
