import AgentEngine
import AgentProtocol
import AgentRuntime
import AldabaConfiguration
import Foundation
import NIOCore
import Networking
import PushCore

extension SendCommand {
    /// Warns of a picture that nothing will fetch, as far as that is known on this machine.
    func warnOfPicture(in payload: [UInt8]) {
        let delivery = PayloadDelivery(payload: String(decoding: payload, as: UTF8.self))
        guard delivery.isMutable, delivery.content.showsText else {
            if delivery.kind != .background, PayloadPicture.isNamed(in: payload) {
                Terminal.printError("warning: \(PayloadPicture.unasked)")
            }
            return
        }
        guard server == nil else { return }
        let name = topic ?? app ?? DemoApp.topic.rawValue
        let installed = AppFolder(path: location.folder.manifests).load().apps[BundleID(rawValue: name)]
        guard let installed, installed.serviceExtension == nil else { return }
        let lost = PayloadPicture.isNamed(in: payload) ? "appears without the picture" : "appears unchanged"
        Terminal.printError(
            "warning: the notification \(lost), for \(name) has no service extension on this machine; "
                + "the guide show-a-picture says how to add one")
    }

    /// The address of the picture, which is uploaded where it is a file.
    func uploadedAttachmentURL() async throws -> String? {
        guard let image else { return nil }
        guard !image.isEmpty else {
            throw CommandError(
                .invalidInput, "--image: it is empty; give a file, or an address that begins with https://")
        }
        if image.hasPrefix("https://") {
            try checkAddress(image)
            return image
        }
        guard !image.hasPrefix("http://") else {
            throw CommandError(.invalidInput, "--image: devices load https addresses only")
        }
        guard !dryRun else { return "https://media.invalid/the-upload-of-\(image)" }
        guard server == nil || control != nil else {
            throw CommandError(.usage, "--image of a file with --server needs --control, where the file is uploaded")
        }
        let media = MediaClient(
            control: try control ?? location.addresses().control, authority: ca ?? location.authority,
            token: try signing.token(location))
        return try await media.upload(image).url
    }

    /// Refuses an address that no device fetches, and warns of one that most do not.
    private func checkAddress(_ image: String) throws {
        let address: MediaURL
        do throws(MediaFailure) { address = try MediaURL(image) } catch {
            throw CommandError(.invalidInput, "--image: devices do not fetch it: \(error)")
        }
        // A server's own media is fetched wherever it is; without a server here it is another's.
        if let own = try? location.addresses().control, address.origin == own { return }
        let literal = try? SocketAddress(ipAddress: address.host == "localhost" ? "127.0.0.1" : address.host, port: 0)
        guard let literal, let reason = AddressRule().refusal(of: literal) else { return }
        Terminal.printError(
            "warning: \(address.host) is \(reason), from which an agent fetches no picture unless its setting media-networks "
                + "names it")
    }
}
