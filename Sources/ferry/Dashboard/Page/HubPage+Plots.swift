import FerrySpool

extension HubPage {
    private var noPlots: String {
        report.machines.isEmpty
            ? "There is no machine to tell of."
            : "Nothing is known of the last 24 hours yet: a running ferry with --dashboard notes it every minute."
    }

    /// The hub's plots, with a table that says the same.
    var plots: HTML {
        let body: HTML =
            report.day.isUnknown
            ? #"<p data-k="none">\#(noPlots)</p>"#
            : #"<div data-k="plots" class="plots">\#(agePlot)\#(bytesPlot)</div>\#(hours)"#
        return #"""
            <section data-k="day" id="day" aria-labelledby="day-title"><h2 data-k="title" id="day-title">Last 24 hours</h2>
            \#(body)</section>
            """#
    }

    private static let height = 150
    /// What a plot of ages may end at.
    private static let ageTops: [(Duration, [Duration])] = [
        (.seconds(3600), [.seconds(60), .seconds(600)]),
        (.seconds(86_400), [.seconds(60), .seconds(3600)]),
        (.seconds(30 * 86_400), [.seconds(60), .seconds(3600), .seconds(86_400)]),
        (.seconds(100 * 86_400), [.seconds(60), .seconds(3600), .seconds(86_400)]),
    ]

    private var agePlot: HTML {
        let highest = report.day.highestAge ?? .zero
        let (top, marks) = Self.ageTops.first { $0.0 > highest } ?? Self.ageTops[Self.ageTops.count - 1]
        // Above the highest mark there is room for its text.
        let plot = DayPlot(report.day, height: Self.height - 16)
        let lines = (marks + [top]).map { mark -> HTML in
            let y = Self.height - plot.y(mark, top: top)
            return #"<line x1="0" x2="100%" y1="\#(y)" y2="\#(y)"/><text x="2" y="\#(y - 3)">\#(mark.forPeople)</text>"#
        }
        let most = report.day.highestAge.map { "at most about \($0.roughly)" } ?? "nothing was pending"
        let label = "Age of the oldest pending segment: \(most)"
        return figure("Age of the oldest pending segment", label, plot.ages(top: top), "area", lines)
    }

    private var bytesPlot: HTML {
        let most = report.day.quarters.map(\.bytes).max() ?? .zero
        let plot = DayPlot(report.day, height: Self.height - 16)
        let line: HTML = #"<line x1="0" x2="100%" y1="16" y2="16"/><text x="2" y="13">\#(most.description) in 15 min</text>"#
        let label = "Received or sent: about \(report.day.bytes) in all, at most \(most) in a quarter of an hour"
        return figure(
            "Received or sent, about \(report.day.bytes)", label, plot.bytes(top: max(most, ByteCount(1))), "bar",
            most > .zero ? [line] : [])
    }

    private func figure(_ title: String, _ label: String, _ path: SVGPath, _ kind: String, _ marks: [HTML]) -> HTML {
        #"""
        <figure data-k="\#(kind)"><figcaption>\#(title)</figcaption>
        <svg class="plot" role="img" aria-label="\#(label)"><svg y="16" width="100%" height="\#(Self.height - 16)" viewBox="0 0 \#(DayHistory.count) \#(Self.height - 16)" preserveAspectRatio="none"><path class="\#(kind)" d="\#(path)"/></svg>\#(marks)</svg>
        <div class="hours" aria-hidden="true"><span>−24 h</span><span>−18 h</span><span>−12 h</span><span>−6 h</span><span>now</span></div></figure>
        """#
    }

    private var hours: HTML {
        let rows = report.day.hours.map { hour -> HTML in
            #"""
            <tr><th scope="row">\#(String(hour.begin.rfc3339.prefix(16).dropFirst(11)))</th><td>\#(words(hour.quarter.age))</td>\#
            <td class="num">\#(hour.quarter.bytes.description)</td></tr>
            """#
        }
        return #"""
            <details data-k="hours" id="hours"><summary>As a table</summary>
            <table class="small"><thead><tr><th scope="col">Hour from (UTC)</th><th scope="col">Oldest at most</th>\#
            <th scope="col">Received or sent</th></tr></thead><tbody>\#(rows)</tbody></table></details>
            """#
    }

    private func words(_ age: HistoryStep.Age) -> String {
        switch age {
        case .unknown: "not known"
        case .none: "nothing pending"
        case .about(let age): "about \(age.roughly)"
        }
    }

    /// The plots of a machine, small: its ages over what it sent. All ages have the same scale, so that machines can be compared.
    func sparks(_ day: DayHistory) -> HTML {
        if day.isUnknown { return "–" }
        let plot = DayPlot(day, height: 24)
        let most = max(day.quarters.map(\.bytes).max() ?? .zero, ByteCount(1))
        let oldest = day.highestAge.map { "oldest at most about \($0.roughly)" } ?? "nothing pending"
        let label = "Last 24 hours: \(oldest), about \(day.bytes) received or sent"
        return #"""
            <span role="img" aria-label="\#(label)"><svg class="spark" aria-hidden="true" viewBox="0 0 96 24" preserveAspectRatio="none"><path class="area" d="\#(plot.ages(top: .seconds(100 * 86_400)))"/></svg>\#
            <svg class="spark" aria-hidden="true" viewBox="0 0 96 24" preserveAspectRatio="none"><path class="bar" d="\#(plot.bytes(top: most))"/></svg></span>
            """#
    }
}
