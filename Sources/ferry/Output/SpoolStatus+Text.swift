import FerrySpool
import FerryUpload

extension SpoolStatus {
    /// Long lists are cut: `ferry list` and `--json` show everything.
    private static let longestList = 20

    /// For people, escaped for a terminal: only the colours are obeyed.
    func text(_ colors: Colors) -> [String] {
        let plain = plainText.map { $0.printable() }
        let states = conditions.map { condition in
            let line = condition.line(at: at).printable(limit: Self.longestLine)
            let title = condition.title
            guard line.hasPrefix(title) else { return line }
            let color: Colors.Color = condition.needsPerson ? .red : condition.kind == .ok ? .green : .yellow
            return colors.paint(title, color) + line.dropFirst(title.count)
        }
        return plain.prefix(1) + states + plain.dropFirst()
    }

    private static let longestLine = 2000

    private var plainText: [String] {
        var lines = ["spool \(spool)"]
        let option = destination.map { " --destination \($0)" } ?? ""
        if let uploader {
            lines.append(
                "ferry run \(lanes.isEmpty ? "sends to" : "puts into") \(uploader.destination), process \(uploader.process), for \(uploader.startedAt.age(at: at))"
            )
            if uploader.byHand ?? false { lines.append("it sends when it is asked: ferry flush\(option)") }
        }
        lines.append("")
        if priorities.isEmpty {
            lines.append("nothing is pending")
        } else {
            var table = Table(["PRIORITY", "SEGMENTS", "SIZE", "EVENTS", "OLDEST"], rightAligned: [1, 2, 3, 4])
            for line in priorities {
                table.add([
                    "\(line.priority)", "\(line.segments)", "\(ByteCount(line.bytes))", line.events.map { "\($0)" } ?? "?",
                    line.oldest.age(at: at),
                ])
            }
            lines += table.lines
        }
        lines.append("")
        lines.append("pending   \(amount(pending))")
        if lanes.isEmpty || ledger["sent"]?.segments ?? 0 > 0 { lines.append("sent      \(amount(ledger["sent"]))") }
        if let kept {
            let more = kept.isMore ? "more than " : ""
            lines.append(
                "kept      \(more)\(amount(kept.amount)) in sent/, since \(kept.since ?? "?"); ferry prune --max-sent-age 30d deletes old ones"
            )
        }
        if let lastDelivery {
            let place = lastDelivery.destination.map { " to \($0)" } ?? ""
            lines.append("delivered last \(lastDelivery.at.rfc3339) (\(lastDelivery.at.age(at: at, "ago")))\(place)")
        }
        if !lanes.isEmpty { lines.append("routed    \(amount(ledger["routed"]))") }
        lines.append(
            "rejected  \(amount(Amount(segments: Int64(rejected.count), bytes: rejected.reduce(0) { $0.adding($1.bytes) })))")
        lines.append("dropped   \(amount(ledger["expired"])) by age, \(amount(ledger["evicted"])) for room")
        if let deadline {
            for (amount, moment) in [(deadline.due, deadline.next), (deadline.dueLater, deadline.following)] {
                lines.append(
                    "due       \(self.amount(amount)) by \(moment.rfc3339) (\(deadline.rule)), in \(moment.wait(at: at))")
            }
            if deadline.late.segments > 0 { lines.append("late      \(amount(deadline.late))") }
        }
        if let limits { lines.append("limits    \(limits.text), as \(limits.setBy) was told at \(limits.setAt.rfc3339)") }
        if openJournals > 0 { lines.append("writing   \(counted(openJournals, "open journal"))") }
        if !unfinished.isEmpty {
            lines.append(
                "left      \(counted(unfinished.count, "file")) of writers or receivers that died; the next ferry upload finishes them"
            )
        }
        if !others.isEmpty { lines.append("ignored   \(others)") }
        if flawedNames.count > 0 { lines += [""] + flawedNames.lines }
        lines += sendersTable
        lines += section("waiting", waiting) { entry in
            let due = standstill?.reason == "off" ? "due at the next start" : "due again"
            let when = entry.until.map { "until \($0.rfc3339) (in \($0.wait(at: at)))" } ?? due
            return "\(entry.segment)  \(entry.retry.text(when: when))"
        }
        lines += section("destinations", destinations) { entry in
            let wait = entry.state.wait(at: at, longestWait: BackOff.standard.longestWait)
            let when = wait.map { "not before \($0.rfc3339) (in \($0.wait(at: at)))" } ?? "due"
            let (first, last) = (entry.state.firstAttemptAt, entry.state.lastAttemptAt)
            return
                "\(entry.destination)  \(when), last tried \(last.age(at: at, "ago")), fails since \(first.rfc3339): \(entry.state.lastError.message)"
        }
        if !lanes.isEmpty {
            var table = Table(
                ["DESTINATION", "PENDING", "SIZE", "OLDEST", "SENT", "REJECTED", "DROPPED", ""], rightAligned: [1, 2, 3, 4, 5, 6])
            for lane in lanes {
                table.add([
                    lane.name, "\(lane.pending.segments)", "\(ByteCount(lane.pending.bytes))",
                    lane.oldest?.age(at: at) ?? "-", "\(lane.sent.segments)", "\(lane.rejected)",
                    "\(lane.dropped)",
                    lane.standstill?.text ?? "",
                ])
            }
            lines += [""] + table.lines
            if lanes.contains(where: { $0.rejected > 0 }) {
                lines.append("ferry status --destination NAME tells why they are rejected")
            }
        }
        lines += section("travelling by hand", travelling) { entry in
            let end =
                entry.underWay
                ? "is being written" : "ferry acknowledge\(option) takes its receipt, ferry export\(option) --forget gives it up"
            return
                "\(counted(entry.segments, "segment")) in bundle \(entry.bundle) since \(entry.since.rfc3339) (\(entry.since.age(at: at))): \(end)"
        }
        lines += section("rejected", rejected) { entry in
            let when = entry.reason.map { "  \($0.at.rfc3339)" } ?? ""
            return "\(entry.segment)\(when)  \(entry.reason?.summary ?? "its reason file is missing")"
        }
        if !rejected.isEmpty {
            lines.append(
                "  ferry retry NAME sends one again as it is, ferry retry NAME --salvage saves the whole lines of a damaged one")
        }
        if unreadable > 0 {
            lines += ["", "cannot be read (\(unreadable)):"] + problems.prefix(Self.longestList).map { "  \($0)" }
        }
        return lines
    }

    /// Where segments came from: of a spool that several machines send into, which did.
    private var sendersTable: [String] {
        guard !senders.isEmpty else { return [] }
        var table = Table(["CAME FROM", "SEGMENTS", "SIZE", "LAST", "BY", ""], rightAligned: [1, 2, 3])
        for sender in senders.prefix(Self.longestList) {
            table.add([
                sender.spool ?? "-", "\(sender.segments)", "\(ByteCount(sender.bytes))", sender.last.age(at: at),
                sender.inBundle ? "bundle" : "HTTP", sender.isSilent ? "silent for longer than usual" : "",
            ])
        }
        let more = senders.count - Self.longestList
        return [""] + table.lines + (more > 0 ? ["… and \(more) more; --json shows all"] : [])
            + (sendersSince.map { ["since \($0.rfc3339)"] } ?? [])
    }

    private func amount(_ amount: Amount?) -> String {
        "\(counted(amount?.segments ?? 0, "segment")), \(ByteCount(amount?.bytes ?? 0))"
    }

    private func section<Entry>(_ title: String, _ entries: [Entry], _ line: (Entry) -> String) -> [String] {
        guard !entries.isEmpty else { return [] }
        let more = entries.count - Self.longestList
        return ["", "\(title):"] + entries.prefix(Self.longestList).map { "  " + line($0) }
            + (more > 0 ? ["  … and \(more) more; --json shows all"] : [])
    }
}

extension SpoolStatus.Limits {
    /// As in `10.0 MB, 25 d`.
    fileprivate var text: String {
        let parts = [maxBytes.map { "\(ByteCount($0))" }, maxAgeMs.map { Duration.milliseconds($0).forPeople }].compactMap(\.self)
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
