import Foundation
import Glibc

/// A finding of `doctor`, and the remedy where one is needed.
package struct Finding: Encodable, Sendable, Equatable {
    /// The finding, in words.
    package var what: String
    /// The remedy, in words; `nil` when nothing is to be done.
    package var remedy: String?
    /// Whether `up` cannot work with it.
    package var isProblem: Bool

    /// Makes a finding; one without a remedy is in order.
    package init(what: String, remedy: String? = nil, isProblem: Bool = false) {
        self.what = what
        self.remedy = remedy
        self.isProblem = isProblem
    }
}

/// Looks at what `up` needs of this machine. Changes nothing.
package enum Diagnosis {
    /// The findings on the data folder, its locks, the ports and the certificates.
    ///
    /// - Parameter values: The configuration as `up` reads it.
    package static func findings(
        _ values: ConfigurationValues, environment: [String: String], now: Date = Date()
    ) -> [Finding] {
        let folder = values.text(.data).map(DataFolder.init) ?? .standard(environment: environment)
        let running = try? ServerAddresses.read(folder)
        return [self.folder(folder), space(folder)] + locks(folder) + ports(values, running: running)
            + certificates(values, folder, now: now)
            + [media(values, folder), socket(folder, environment)]
    }

    /// How much of the quota the files of notifications take.
    private static func media(_ values: ConfigurationValues, _ folder: DataFolder) -> Finding {
        var names: [String] = []
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.media)
        } catch  where access(folder.media, F_OK) == 0 {
            return Finding(
                what: "media: \(folder.media) cannot be read: \(error)", remedy: "make it readable for this user",
                isProblem: true)
        } catch {}  // Nothing was uploaded yet.
        let used = names.filter { !$0.hasSuffix(".json") }.reduce(Int64(0)) { sum, name in
            var status = stat()
            return lstat("\(folder.media)/\(name)", &status) == 0 ? sum + Int64(status.st_size) : sum
        }
        let quota = Int64(values.number(.mediaQuota)) << 20
        let share = "media: \(used) of \(quota) bytes used"
        // The quota counts as full where the largest picture does not fit any more.
        guard quota - used < min(10 << 20, quota / 10) else { return Finding(what: share) }
        return Finding(
            what: "\(share): the quota is full",
            remedy: "delete files with `aldaba media delete NAME`, or raise --media-quota")
    }

    private static func folder(_ folder: DataFolder) -> Finding {
        var path = folder.root
        while access(path, F_OK) != 0, path != "/" {
            path = URL(fileURLWithPath: path).deletingLastPathComponent().path
        }
        let name = path == folder.root ? "data folder \(path)" : "data folder \(folder.root), to be made in \(path)"
        var status = stat()
        if path == folder.root, stat(path, &status) == 0, status.st_mode & 0o022 != 0 {
            return Finding(
                what: "\(name): others can write to it",
                remedy: "look what is in it, then take that away: chmod go-w \(path)", isProblem: true)
        }
        if access(path, R_OK | W_OK | X_OK) == 0 { return Finding(what: "\(name): writable") }
        return Finding(
            what: "\(name): \(String(cString: strerror(errno)))",
            remedy: "make it writable, or choose another with --data", isProblem: true)
    }

    /// The finding on the free space at the place of the data folder, which may not exist yet.
    private static func space(_ folder: DataFolder) -> Finding {
        var path = folder.root
        while access(path, F_OK) != 0, path != "/" {
            path = URL(fileURLWithPath: path).deletingLastPathComponent().path
        }
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            return Finding(what: "space: \(path) cannot be looked at: \(String(cString: strerror(errno)))")
        }
        return space(
            free: UInt64(status.f_bavail) * UInt64(status.f_frsize), isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0,
            path: path)
    }

    /// The finding on the free disk space: the database's log alone takes up to 40 MiB before it is copied into the
    /// database.
    static func space(free: UInt64, isReadOnly: Bool, path: String) -> Finding {
        if isReadOnly {
            return Finding(
                what: "space: the disk of \(path) is mounted read-only",
                remedy: "mount it for writing, or choose another folder with --data", isProblem: true)
        }
        let what = "space: \(free >> 20) MiB free for \(path)"
        guard free < 64 << 20 else { return Finding(what: what) }
        return Finding(
            what: free < 4 << 20 ? "\(what): the disk is full" : what,
            remedy: "free some space: when there is none, pushes are refused with 503 until there is again",
            isProblem: free < 4 << 20)
    }

    private static func locks(_ folder: DataFolder) -> [Finding] {
        let locks = [("up", folder.upLock), ("serve", folder.serveLock), ("agent", folder.agentLock)]
        return locks.filter { access($0.1, F_OK) == 0 }.map { program, path in
            guard let rejection = DataFolder.refusal(ofLock: path) else {
                return Finding(what: "no `\(program)` uses the data folder")
            }
            return Finding(what: "\(program): \(rejection.fault)", remedy: rejection.remedy)
        }
    }

    private static func ports(_ values: ConfigurationValues, running: ServerAddresses?) -> [Finding] {
        let own =
            running.map {
                [$0.apnsPort, $0.devicePort, $0.controlPort, $0.httpPort ?? 0, $0.metricsPort]
            } ?? []
        let keys: [ConfigurationKey] = [.apnsPort, .devicePort, .controlPort, .httpPort, .metricsPort]
        return keys.map { key in
            let port = values.number(key)
            if port == 0 { return Finding(what: "\(key.rawValue): the system chooses a free port") }
            guard let taken = PortCheck.taken(port) else { return Finding(what: "\(key.rawValue) \(port) is free") }
            if own.contains(port) {
                return Finding(what: "\(key.rawValue) \(port) is the running server's\(taken.holder)")
            }
            return Finding(
                what: "\(key.rawValue) \(port) is in use\(taken.holder)",
                remedy: "choose another with --\(key.rawValue) N, or take free ones with --ephemeral", isProblem: true)
        }
    }

    private static func certificates(_ values: ConfigurationValues, _ folder: DataFolder, now: Date) -> [Finding] {
        let made = DevelopmentCertificates.Paths(folder: folder.certificates)
        let isNamed = values.text(.certificate) != nil || values.text(.certificateKey) != nil
        let (path, key) = (values.text(.certificate) ?? made.server, values.text(.certificateKey) ?? made.serverKey)
        let isThere = isNamed || access(path, F_OK) == 0
        let owner: Owner =
            isNamed ? .named : !isThere || DevelopmentCertificates.hasSignedServer(made) ? .development : .operatorsOwn
        return [authority(made, isOwn: owner != .development, now)].compactMap(\.self) + [
            isThere ? pair(path, key: key, owner, at: now) : none(path)
        ]
    }

    /// The origin of the server's certificate.
    private enum Owner {
        /// `up` made it, and makes another in time.
        case development
        /// A setting names it.
        case named
        /// It is in the place of the one that `up` makes.
        case operatorsOwn
    }

    /// The authority that `up` made, or that somebody put in its place; with a certificate of one's own there may be none.
    private static func authority(
        _ made: DevelopmentCertificates.Paths, isOwn: Bool, _ now: Date
    ) -> Finding? {
        guard let end = try? DevelopmentCertificates.end(of: made.authority) else {
            return isOwn ? nil : none(made.authority)
        }
        let days = Int(end.timeIntervalSince(now) / 86_400)
        let what = "\(made.authority): " + (days < 0 ? "ended \(-days) days ago" : "\(days) days left")
        if !isOwn, access(made.authorityKey, F_OK) == 0 {
            return Finding(what: "\(what); `up` makes a new one in time")
        }
        guard days < CertificateFiles.renewalDays else { return Finding(what: what) }
        return Finding(
            what: what,
            remedy: "put the authority's present certificate in its place, for the commands of this machine",
            isProblem: days < 0)
    }

    private static func none(_ path: String) -> Finding { Finding(what: "\(path): none yet; `up` makes it") }

    /// The server's certificate with its key.
    private static func pair(_ path: String, key: String, _ owner: Owner, at now: Date) -> Finding {
        let files: CertificateFiles
        do { files = try CertificateFiles(certificate: path, key: key) } catch {
            return Finding(
                what: "\(error)",
                remedy: owner == .named
                    ? "put the two files right" : "remove \(path); `up` makes certificate and key anew",
                isProblem: true)
        }
        let days = files.daysLeft(at: now)
        var what = days < 0 ? "\(path): ended \(-days) days ago" : "\(path): \(days) days left, its key fits"
        switch owner {
        case .development: return Finding(what: "\(what); `up` makes a new one in time")
        case .operatorsOwn:
            what += "; the authority of this folder did not sign it: `serve` takes it, and `up` would replace it"
        case .named: break
        }
        if days >= CertificateFiles.renewalDays { return Finding(what: what) }
        return Finding(
            what: what,
            remedy: "renew it; a running server reads it again by itself, and at once on SIGHUP", isProblem: days < 0)
    }

    private static func socket(_ folder: DataFolder, _ environment: [String: String]) -> Finding {
        Finding(what: "the agent's socket: \(folder.agentSocket(environment: environment))")
    }
}
