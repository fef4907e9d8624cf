import ArgumentParser
import FerrySpool
import FerryUpload
import Glibc

extension SpoolOptions {
    /// What is said of arguments that name spools.
    static let severalHelp = ArgumentHelp("Spools, in place of --spool: folders, dir/* or dir/web*.", valueName: "spool")

    /// Returns whether an argument names spools rather than segments: it is a folder, or has a star. Segments are files.
    static func isSpoolName(_ argument: String) -> Bool {
        var status = stat()
        if ObjectStore.isURL(argument) { return false }
        return argument.contains("*") && !argument.isSegmentName
            || stat(argument, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns what names spools: arguments, and `--spool`; with none of them it is the default.
    func names(_ arguments: [String]) -> [String] {
        let named = arguments + (spool.map { [$0] } ?? [])
        return named.isEmpty ? [spoolPath] : named
    }

    /// Returns the spools that are named. A pattern names those that are there now.
    ///
    /// - Parameter arguments: Folders and patterns.
    /// - Throws: An error where no name stands for a spool.
    func paths(_ arguments: [String]) throws(CommandError) -> SpoolPaths {
        let named = SpoolPaths(names(arguments))
        try named.requireSome()
        return named
    }

    /// Does something with each spool that is named. What fails with one does not stop the others; the worst status counts.
    ///
    /// - Parameter body: Called with what its lines of output begin with: nothing where there is one spool, which needs no name.
    func forEach(_ arguments: [String], _ body: (SpoolOptions, _ prefix: String) throws -> Void) throws {
        let named = try paths(arguments)
        var outcome = WorstStatus(named)
        for path in named.paths {
            do { try body(with(path), named.paths.count > 1 ? "\(path): " : "") } catch { try outcome.take(error, of: path) }
        }
        try outcome.end()
    }

    /// The same for what waits for the network, one spool after the other.
    func forEach(_ arguments: [String], _ body: (SpoolOptions) async throws -> Void) async throws {
        let named = try paths(arguments)
        var outcome = WorstStatus(named)
        for path in named.paths {
            do { try await body(with(path)) } catch { try outcome.take(error, of: path) }
        }
        try outcome.end()
    }

    /// Returns what is pending in each of the spools that are named, where they are several.
    func pendingAhead(_ arguments: [String]) throws -> [String: ProgressLine.Amount] {
        let all = try paths(arguments).paths.map { with($0).path }
        guard all.count > 1 else { return [:] }
        return Dictionary(all.map { ($0, .init(pendingIn: [$0])) }, uniquingKeysWith: { first, _ in first })
    }

    private func with(_ path: String) -> SpoolOptions {
        var options = self
        options.spool = path
        return options
    }
}

/// What several spools come to.
private struct WorstStatus {
    /// The worst first: what a person must mend.
    private static let order: [ExitStatus] = [
        .spoolFull, .localFailure, .badConfiguration, .misconfigured, .badData, .usage, .unavailable, .remaining,
    ]

    private var codes: Set<Int32> = []
    /// An error of the only spool is thrown again, as if no other could have been named.
    private let isOnly: Bool

    /// Tells of names that stand for nothing, which counts as a failure.
    init(_ named: SpoolPaths) {
        isOnly = named.paths.count == 1 && named.problems.isEmpty
        for problem in named.problems { Log(isQuiet: false).error(problem) }
        if !named.problems.isEmpty { codes.insert(ExitStatus.localFailure.rawValue) }
    }

    mutating func take(_ error: any Error, of path: String) throws {
        if isOnly { throw error }
        switch error {
        case let code as ExitCode where code != ExitStatus.interrupted.code: codes.insert(code.rawValue)
        case let failure as CommandError:
            for message in failure.messages { Log(isQuiet: false).error("\(path): \(message)") }
            codes.insert(failure.status.rawValue)
        case let failure as FileError:
            Log(isQuiet: false).error("\(path): \(failure)")
            codes.insert(ExitStatus(failure).rawValue)
        default: throw error
        }
    }

    func end() throws {
        if let worst = Self.order.map(\.rawValue).first(where: codes.contains) ?? codes.max() { throw ExitCode(worst) }
    }
}
