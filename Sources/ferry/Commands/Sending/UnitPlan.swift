import ArgumentParser
import FerrySpool
import FoundationEssentials
import Glibc

/// The units of a role, and what is wrong with what they are to call.
struct UnitPlan {
    /// File names and texts; the last is the one to enable.
    let units: [(name: String, text: String)]
    /// Why they could not do their work.
    private(set) var problems: [String]
    /// What may keep them from it.
    private(set) var warnings: [String] = []
    /// What the user may not do, by the modes of files.
    private(set) var denials: [String] = []

    /// - Parameters:
    ///   - words: The options of the role's command.
    ///   - user: Whom it runs as; `nil`: the owner of what it writes to.
    /// - Throws: An error for options that the command does not take.
    init(_ role: ServiceRole, _ words: [String], user: String?, every calendar: String) throws {
        let needs = try ServiceNeeds(of: role, ServiceArguments(words, from: FileManager.default.currentDirectoryPath))
        let account = user.map { ServiceUser(named: $0) } ?? needs.writes.lazy.compactMap { ServiceUser(owning: $0) }.first
        let text = SystemdUnits(
            program: SystemdUnits.ownProgram, user: user ?? account?.name ?? "root", arguments: needs.arguments,
            writable: needs.writes)
        problems = needs.problems
        let texts: [String]
        switch role {
        case .run: texts = [text.run]
        case .upload:
            texts = [text.upload, SystemdUnits.timer(every: calendar)]
            if CalendarCheck.refuses(calendar) {
                problems.append(
                    "--every '\(calendar.printable())' is no time of systemd's, like *:0/5, hourly or 'Mon..Fri 08:00'; systemd-analyze calendar says what is wrong"
                )
            }
        case .receive: texts = [text.receive(port: needs.port)]
        }
        units = Array(zip(role.unitNames, texts))
        if let user, account == nil {
            problems.append("there is no user \(user.printable()); adduser --system --group makes one")
        }
        check(needs, account, hidesSecrets: role == .upload)
        checkPlaces([text.program] + needs.reads + needs.writes)
    }

    /// Looks whether the user may do what the command must.
    private mutating func check(_ needs: ServiceNeeds, _ user: ServiceUser?, hidesSecrets: Bool) {
        for folder in needs.writes {
            guard access(folder, F_OK) == 0 else {
                if !needs.waitsForFolders {
                    problems.append("there is no folder \(folder.printable()), and the unit may not make it; \(needs.remedy)")
                } else {
                    warnings.append("there is no folder \(folder.printable()) yet: make it before the unit starts")
                }
                continue
            }
            if let user, !user.may(.write, folder) || !user.may(.enter, folder) {
                denials.append("\(user.name) may not write in \(folder.printable()): chown it, or ferry init --group shares it")
            }
        }
        // systemd reads the files with secrets for the timer's command.
        for file in needs.reads where !(hidesSecrets && needs.secrets.contains(file)) {
            if let user, access(file, F_OK) == 0, !user.may(.read, file) {
                denials.append("\(user.name) may not read \(file.printable()): chgrp and chmod 640 let it")
            }
        }
    }

    /// Tells of places that units do not see, or that are not there for long.
    private mutating func checkPlaces(_ paths: [String]) {
        for path in paths where path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/") {
            warnings.append(
                "\(path.printable()) is in a folder for temporary files, of which a unit has its own: put it elsewhere")
        }
        guard let program = paths.first else { return }
        if ["/home/", "/root/"].contains(where: program.hasPrefix) || program.contains("/.build/") {
            warnings.append(
                "the units call \(program.printable()), which the next build or a user may take away: install it first, and call that one"
            )
        }
    }
}
