/// The page's style, dark and light: no file, font or picture comes from elsewhere.
enum PageStyle {
    static let text = """
        :root{color-scheme:light dark;--bg:#fff;--fg:#1a1d21;--muted:#565d66;--line:#cfd4da;--soft:#f3f5f7;--accent:#0b57d0;\
        --bad:#a3211a;--badbg:#fdeceb;--warn:#704600;--warnbg:#fff3dc;--ok:#0d652d;--okbg:#e6f4ea;--area:#7aa7ee;--bar:#57a773}
        @media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e4e7ea;--muted:#a9b1ba;--line:#3a4149;--soft:#1d2125;\
        --accent:#8ab4f8;--bad:#ffb4ab;--badbg:#42100d;--warn:#ffd08a;--warnbg:#3a2600;--ok:#8fd6a4;--okbg:#0d2b17;\
        --area:#4674b8;--bar:#3f8a59}}
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
        header,main,footer{max-width:1400px;margin:0 auto;padding:0 16px}
        header{padding-top:16px}
        h1{font-size:1.4rem;margin:0}
        h2{font-size:1.15rem;margin:0 0 8px}
        h3{font-size:1rem;margin:0}
        section{margin:24px 0}
        p{margin:4px 0}
        a{color:var(--accent)}
        a:focus-visible,input:focus-visible,button:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .skip{position:absolute;left:-9999px}
        .skip:focus{left:16px;top:8px;background:var(--bg);padding:8px}
        .muted{color:var(--muted);font-size:.9rem}
        .more{margin-top:8px}
        nav ul{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin:8px 0;padding:0}
        nav a{display:inline-block;padding:4px 0}
        form{display:flex;flex-wrap:wrap;gap:8px;align-items:end;margin:12px 0}
        label{display:block;font-size:.9rem;color:var(--muted)}
        input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--muted);border-radius:6px;padding:7px 10px;\
        width:min(26rem,100%)}
        .field{flex:1 1 14rem;max-width:26rem}
        button{font:inherit;color:var(--bg);background:var(--accent);border:1px solid var(--accent);border-radius:6px;padding:7px 14px}
        .plain{background:none;color:var(--accent)}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:8px;margin:8px 0}
        .tiles div{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:8px 12px}
        dt{color:var(--muted);font-size:.9rem}
        dd{margin:0;font-size:1.15rem;font-weight:600}
        .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:16px}
        figure{margin:0;border:1px solid var(--line);border-radius:8px;padding:8px 12px}
        figcaption{font-weight:600}
        svg{display:block}
        .plot{width:100%;height:150px;margin-top:4px}
        .plot text{font-size:12px;fill:var(--fg);stroke:var(--bg);stroke-width:3px;paint-order:stroke}
        .plot line{stroke:var(--line)}
        .spark{width:120px;height:24px;margin:1px 0;border-bottom:1px solid var(--line)}
        .area{fill:var(--area)}
        .bar{fill:var(--bar)}
        .hours{display:flex;justify-content:space-between;font-size:12px;color:var(--muted)}
        table{border-collapse:collapse;width:100%}
        th,td{text-align:left;vertical-align:top;padding:6px 12px 6px 0;border-bottom:1px solid var(--line)}
        thead th{font-size:.9rem;color:var(--muted);font-weight:600}
        thead th{overflow-wrap:normal}
        tbody th{font-weight:600;min-width:8rem}
        .num{text-align:right;white-space:nowrap}
        .small{width:auto}
        .small th,.small td{padding:2px 16px 2px 0;min-width:0}
        .badge{display:inline-block;border-radius:999px;padding:0 10px;font-weight:600;font-size:.9rem;border:1px solid}
        .bad{color:var(--bad);background:var(--badbg)}
        .warn{color:var(--warn);background:var(--warnbg)}
        .ok{color:var(--ok);background:var(--okbg)}
        .notice{border:1px solid;border-radius:8px;padding:8px 12px}
        code,pre{font:.88rem/1.4 ui-monospace,monospace}
        pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:6px 10px;margin:6px 0;white-space:pre-wrap}
        summary{cursor:pointer;color:var(--accent);padding:4px 0}
        article{border-top:1px solid var(--line);padding:10px 0}
        footer{padding-bottom:24px}
        @media (max-width:760px){
        .stack thead{position:absolute;left:-9999px}
        .stack,.stack tbody,.stack tr,.stack th,.stack td{display:block}
        .stack tr{border:1px solid var(--line);border-radius:8px;padding:8px 12px;margin:8px 0}
        .stack th,.stack td{border:0;padding:2px 0;text-align:left;white-space:normal}
        .stack td[data-label]::before{content:attr(data-label) ": ";color:var(--muted);font-size:.9rem}
        .spark{width:100%}
        }
        @media print{nav,form,.skip{display:none}}
        """
}
