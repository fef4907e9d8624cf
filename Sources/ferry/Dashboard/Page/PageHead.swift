/// The frame of a page.
enum PageHead {
    /// Returns a whole page.
    ///
    /// - Parameters:
    ///   - isFile: Whether it is a file, which says itself what a browser may do with it.
    ///   - isLive: Whether the script comes with it.
    static func page(title: String, isFile: Bool, isLive: Bool, _ body: HTML) -> HTML {
        let policy: HTML =
            isFile ? "<meta http-equiv=\"Content-Security-Policy\" content=\"\(ContentPolicy.file, limit: 2000)\">" : ""
        let script: HTML = isLive ? "<script>\(own: PageScript.text)</script>" : ""
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">\(policy)
            <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer"><meta name="robots" content="noindex"><title>\(title)</title>
            <style>\(own: PageStyle.text)</style></head>
            <body>
            \(body)
            \(script)</body></html>

            """
    }
}
