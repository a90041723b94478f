import AppHost
import Foundation

/// The pictures that an app came with, by name.
struct PictureFiles: Sendable {
    /// The pictures of this process's app.
    static var ofApp: PictureFiles { PictureFiles(folders: AppHostConfiguration.current().resourceFolders) }

    /// The formats, in the order in which they are looked for.
    private static let endings = ["png", "jpg", "jpeg", "gif"]
    /// The scales in the order in which they are looked for; a picture is chosen for its quality.
    private static let scales = ["", "@2x", "@3x"]

    let folders: [String]

    /// The path of a picture; in each folder a file comes before a set of a catalogue.
    func path(named name: String) -> String? {
        guard !name.isEmpty, !name.split(separator: "/").contains("..") else { return nil }
        return folders.lazy.compactMap { Self.file(named: name, in: $0) ?? Self.set(named: name, in: $0) }.first
    }

    /// 2 for a name with `@2x`, 3 for `@3x`, and 1 for others.
    static func scale(ofFile path: String) -> CGFloat {
        let stem = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        return stem.hasSuffix("@2x") ? 2 : stem.hasSuffix("@3x") ? 3 : 1
    }

    private static func file(named name: String, in folder: String) -> String? {
        let ending = (name as NSString).pathExtension
        let (stem, endings) =
            endings.contains(ending.lowercased())
            ? ((name as NSString).deletingPathExtension, [ending]) : (name, Self.endings)
        for scale in scales {
            for ending in endings where isFile("\(folder)/\(stem)\(scale).\(ending)") {
                return "\(folder)/\(stem)\(scale).\(ending)"
            }
        }
        return nil
    }

    /// A set of Xcode's catalogues: `CATALOGUE.xcassets/NAME.imageset`, whose `Contents.json` names its files.
    private static func set(named name: String, in folder: String) -> String? {
        let catalogues = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
            $0.hasSuffix(".xcassets")
        }
        for catalogue in catalogues.sorted() {
            let set = "\(folder)/\(catalogue)/\(name).imageset"
            guard let content = FileManager.default.contents(atPath: "\(set)/Contents.json"),
                let listed = try? JSONDecoder().decode(Contents.self, from: content)
            else { continue }
            let files = listed.images.compactMap(\.filename).map { "\(set)/\($0)" }
            if let file = files.first(where: isFile) { return file }
        }
        return nil
    }

    private struct Contents: Decodable {
        struct Picture: Decodable {
            var filename: String?
        }
        var images: [Picture]
    }

    private static func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
}
