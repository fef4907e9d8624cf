/// Asks for the token.
enum LoginPage {
    /// - Parameter isRefused: Whether the token that was just given is another one.
    static func html(host: String, isRefused: Bool) -> HTML {
        let problem: HTML = isRefused ? #"<p class="notice bad" role="alert">That is not the token.</p>"# : ""
        return PageHead.page(
            title: "Ferry on \(host)", isFile: false, isLive: false,
            #"""
            <header><h1>Ferry on <bdi>\#(host)</bdi></h1></header>
            <main>\#(problem)<form method="post" action="login">
            <div class="field"><label for="token">Token</label>
            <input id="token" name="token" type="password" autocomplete="current-password" required autofocus></div>
            <button>Log in</button></form>
            <p class="muted">It is in the file that --dashboard-token-file names.</p></main>
            """#)
    }
}
