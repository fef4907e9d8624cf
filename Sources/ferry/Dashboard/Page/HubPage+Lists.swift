import FerrySpool

extension HubPage {
    /// Which machines sent into a spool that is not one machine's; nothing where none is known.
    var senders: HTML {
        if report.senders.isEmpty { return "" }
        let rows = report.senders.prefix(showsAll || isFile ? .max : Self.mostRows).map { sender -> HTML in
            let silent: HTML = sender.isSilent(at: now) ? #" <span class="badge warn">silent</span> for longer than usual"# : ""
            return #"""
                <tr role="row" data-k="\#(sender.id ?? "-")"><th role="rowheader" scope="row"><bdi>\#(sender.id ?? "–")</bdi>\#(silent)</th>\#
                <td role="cell" class="num" data-label="Segments">\#(sender.segments)</td>\#
                <td role="cell" class="num" data-label="Size">\#(sender.bytes.description)</td>\#
                <td role="cell" class="num" data-label="Last">\#(sender.last.map(ago) ?? "–")</td>\#
                <td role="cell" data-label="By">\#(sender.cameInBundle ? "bundle" : "HTTP")</td></tr>
                """#
        }
        return section(
            "senders", "Came from", ["Spool", "Segments", "Size", "Last", "By"], numbers: [1, 2, 3], rows, none: "")
    }

    /// The rejected segments, with reasons and first lines.
    var rejected: HTML {
        let left = report.rejectedCount - Int64(report.rejected.count)
        let more: HTML =
            left > 0 && search.isEmpty ? #"<p data-k="more" class="more">\#(left) more; ferry status lists them.</p>"# : ""
        let body: HTML =
            report.rejected.isEmpty ? #"<p data-k="none">None.</p>"# : #"\#(report.rejected.map(article))\#(more)"#
        return #"""
            <section data-k="rejected" id="rejected" aria-labelledby="rejected-title">
            <h2 data-k="title" id="rejected-title">Rejected segments</h2>\#(body)</section>
            """#
    }

    private func article(_ segment: HubReport.Rejected) -> HTML {
        let reason = segment.reason
        let when: HTML = reason.map { " · \(ago($0.at))" } ?? ""
        let status: HTML = reason?.status.map { " · status \($0)" } ?? ""
        let tries: HTML = reason.map { $0.attempts == 1 ? " · 1 try" : " · \($0.attempts) tries" } ?? ""
        let line: HTML = segment.firstLine.map { #"<p class="muted">First line:</p><pre><bdi>\#($0)</bdi></pre>"# } ?? ""
        let answer: HTML =
            reason?.body.map { #"<p class="muted">The destination answered:</p><pre><bdi>\#($0)</bdi></pre>"# } ?? ""
        return #"""
            <article data-k="\#(segment.machine)/\#(segment.segment)"><h3><bdi>\#(segment.segment)</bdi></h3>
            <p class="muted"><bdi>\#(segment.machine, limit: 100)</bdi> · \#(segment.bytes.description)\#(when)\#(status)\#(tries)</p>
            <p><bdi>\#(reason?.message ?? "its reason file is missing")</bdi></p>\#(line)\#(answer)</article>
            """#
    }

    /// The destinations, with breaker and last answer.
    var destinations: HTML {
        let rows = report.destinations.map { destination -> HTML in
            let since: HTML = destination.failingSince.map { #" <span class="muted">since \#(ago($0))</span>"# } ?? ""
            let when: HTML = destination.lastAnswerAt.map { #" <span class="muted">\#(ago($0))</span>"# } ?? ""
            return #"""
                <tr role="row" data-k="\#(destination.url)"><th role="rowheader" scope="row"><bdi>\#(destination.url)</bdi></th>\#
                <td role="cell">\#(breaker(destination.breaker))\#(since)</td>\#
                <td role="cell" data-label="Last answer"><bdi>\#(destination.lastAnswer ?? "–")</bdi>\#(when)</td>\#
                <td role="cell" class="num" data-label="Spools">\#(destination.spools)</td></tr>
                """#
        }
        return section(
            "destinations", "Destinations", ["Destination", "Breaker", "Last answer", "Spools"], numbers: [3], rows,
            none: "Nothing is sent on from here.")
    }

    private func breaker(_ breaker: HubReport.Destination.Breaker) -> HTML {
        switch breaker {
        case .closed: #"<span class="badge ok">closed</span> it takes what is sent"#
        case .halfOpen: #"<span class="badge warn">half-open</span> it failed, and is tried"#
        case .open(let until): #"<span class="badge bad">open</span> not tried before \#(stamp(until))"#
        }
    }

    /// What the ledgers say last.
    var endings: HTML {
        let rows = report.endings.enumerated().map { index, ended -> HTML in
            let entry = ended.entry
            let size: HTML = entry.bytes > .zero ? "\(entry.bytes.description)" : "–"
            let how = [entry.status.map { "status \($0)" }, entry.detail].compactMap(\.self).joined(separator: ", ")
            return #"""
                <tr role="row" data-k="\#(entry.segment) \#(entry.outcome.rawValue) \#(entry.at.rfc3339) \#(ended.machine)">\#
                <td role="cell" data-label="When">\#(ago(entry.at))</td>\#
                <td role="cell" data-label="Outcome">\#(entry.outcome.rawValue)</td>\#
                <th role="rowheader" scope="row"><bdi>\#(entry.segment)</bdi></th>\#
                <td role="cell" data-label="Machine"><bdi>\#(ended.machine, limit: 100)</bdi></td>\#
                <td role="cell" class="num" data-label="Size">\#(size)</td>\#
                <td role="cell" data-label="Where"><bdi>\#(entry.destination ?? "–")</bdi> <span class="muted"><bdi>\#(how)</bdi></span></td></tr>
                """#
        }
        return section(
            "endings", "Last endings", ["When", "Outcome", "Segment", "Machine", "Size", "Where"], numbers: [4], rows,
            none: "No segment has ended here yet.")
    }

    /// A section with a table.
    private func section(
        _ id: String, _ title: String, _ columns: [String], numbers: Set<Int>, _ rows: [HTML], none: String
    ) -> HTML {
        let heads = columns.enumerated().map { index, name -> HTML in
            #"<th role="columnheader" scope="col" class="\#(numbers.contains(index) ? "num" : "text")">\#(name)</th>"#
        }
        let body: HTML =
            rows.isEmpty
            ? #"<p data-k="none">\#(search.isEmpty ? none : "Nothing is found.")</p>"#
            : #"""
            <table data-k="table" class="stack" role="table" aria-labelledby="\#(id)-title"><thead data-k="head" role="rowgroup"><tr role="row">\#(heads)</tr></thead>\#
            <tbody data-k="rows" role="rowgroup">\#(rows)</tbody></table>
            """#
        return #"""
            <section data-k="\#(id)" id="\#(id)" aria-labelledby="\#(id)-title"><h2 data-k="title" id="\#(id)-title">\#(title)</h2>\#(body)</section>
            """#
    }
}
