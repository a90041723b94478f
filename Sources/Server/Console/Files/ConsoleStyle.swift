/// The files that pages load, beside the pictures.
enum ConsoleFiles {
    /// The style sheet, light and dark. It is below 20,000 bytes.
    static let style = base + parts

    /// Colours, texts and the frame of a page.
    private static let base = """
        :root { color-scheme: light dark; --page: #fff; --text: #1b1b20; --quiet: #55555f; --line: #c9c9d1; --card: #f5f5f8;
          --main: #0a56c2; --bad: #a31f17; --good: #1c6b33; --warn: #7a4d00; --field: #75757f; }
        @media (prefers-color-scheme: dark) {
          :root { --page: #16161a; --text: #ececf1; --quiet: #b0b0bc; --line: #44444d; --card: #222228;
            --main: #8ab8ff; --bad: #ff9a91; --good: #7fd896; --warn: #f2c14e; --field: #8d8d99; }
        }
        * { box-sizing: border-box; }
        html { background: var(--page); color: var(--text); font: 100%/1.5 system-ui, sans-serif; }
        body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; }
        main { flex: 1; width: 100%; max-width: 75rem; margin: 0 auto; padding: 1rem; }
        main:focus { outline: none; }
        a { color: var(--main); }
        :focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
        h1 { font-size: 1.6rem; margin: .5rem 0 1rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.2rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
        h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; overflow-wrap: anywhere; }
        .quiet { color: var(--quiet); }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: 1rem; top: .5rem; background: var(--page); padding: .5rem; z-index: 2; }
        .top { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; padding: .5rem 1rem;
          border-bottom: 1px solid var(--line); background: var(--card); }
        .brand { font-weight: 700; color: inherit; text-decoration: none; padding: .25rem 0; }
        .top ul, .languages, .links { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0; }
        .top li a, .languages a, .languages span, .links a { display: inline-block; padding: .25rem 0; min-height: 1.5rem; }
        [aria-current] { color: inherit; font-weight: 600; }
        .top [aria-current] { text-decoration: none; border-bottom: 3px solid var(--main); }
        footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 2rem; padding: .75rem 1rem;
          border-top: 1px solid var(--line); color: var(--quiet); font-size: .875rem; }

        """

    /// Forms, tables and the other parts of pages.
    private static let parts = """
        button, .button, input, select, textarea { font: inherit; color: inherit; background: var(--page);
          border: 1px solid var(--field); border-radius: .375rem; padding: .35rem .75rem; min-height: 2.25rem; max-width: 100%; }
        button, .button { cursor: pointer; color: var(--main); text-decoration: none; display: inline-block; background: var(--card); }
        button.main { background: var(--main); color: var(--page); border-color: var(--main); }
        button.danger { color: var(--bad); border-color: var(--bad); }
        button[disabled] { opacity: .6; cursor: default; }
        input[type=checkbox], input[type=radio] { min-height: 1.5rem; width: 1.5rem; padding: 0; vertical-align: middle; }
        textarea { width: 100%; min-height: 6rem; }
        label { display: block; }
        label > input:not([type=checkbox]):not([type=radio]), label > select, label > textarea { display: block; width: 100%; }
        fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: .75rem 1rem; min-width: 0; }
        legend { font-weight: 600; padding: 0 .5rem; }
        .filters, .fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); gap: .75rem; align-items: start; }
        .filters .buttons, .fields .buttons { align-self: end; }
        .filters { margin-bottom: 1rem; }
        .buttons, .actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
        .wide { grid-column: 1 / -1; }
        .field > input:not([type=checkbox]), .field > select, .field > textarea { display: block; width: 100%; }
        .hint { display: block; color: var(--quiet); font-size: .875rem; }
        .invalid { color: var(--bad); font-weight: 600; }
        [aria-invalid=true] { border: 2px solid var(--bad); }
        .notice, .fault, .verdict { border: 1px solid var(--line); border-inline-start: .4rem solid var(--good); border-radius: .375rem;
          padding: .5rem 1rem; background: var(--card); overflow-wrap: anywhere; }
        .fault, .verdict.bad { border-inline-start-color: var(--bad); }
        .verdict.warn { border-inline-start-color: var(--warn); }
        .verdict p { margin: .25rem 0; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: start; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; min-width: 6rem; }
        th { font-size: .875rem; color: var(--quiet); }
        td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; }
        time { white-space: nowrap; font-variant-numeric: tabular-nums; }
        tr.bad .mark, .bad-text { color: var(--bad); } tr.good .mark, .good-text { color: var(--good); } tr.warn .mark, .warn-text { color: var(--warn); }
        .mark { font-weight: 700; }
        pre { background: var(--card); border: 1px solid var(--line); border-radius: .375rem; padding: .75rem; overflow-x: auto; max-height: 30rem; }
        code { font-family: ui-monospace, monospace; font-size: .9375em; overflow-wrap: anywhere; }
        pre code { overflow-wrap: normal; }
        .facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
        .facts dt { color: var(--quiet); } .facts dd { margin: 0; overflow-wrap: anywhere; }
        .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); gap: 1rem; padding: 0; list-style: none; }
        .cards > * { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; background: var(--card); min-width: 0; }
        .figure { font-size: 1.6rem; font-weight: 600; font-variant-numeric: tabular-nums; }
        .chart { margin: 1rem 0; } .chart svg { min-width: 36rem; height: auto; } .chart .legend svg { min-width: 0; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .25rem 0; padding: 0; }
        .share { width: 100%; min-width: 6rem; height: 1rem; color: var(--main); }
        .pager { display: flex; gap: 1rem; margin: 1rem 0; min-height: 1.5rem; }
        .pager a { padding: .25rem 0; }
        .compose { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 0 1.5rem; align-items: start; }
        .compose .fields { align-items: start; }
        .compose > [data-preview] { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 0 .5rem; }
        .screens, .faults { list-style: none; padding: 0; }
        .screen { border: 1px solid var(--line); border-radius: 1rem; padding: .75rem 1rem; background: var(--card); overflow-wrap: anywhere;
          max-width: 24rem; white-space: pre-line; display: flow-root; }
        .screen > bdi, .screen > strong, .screen > .quiet { display: block; }
        .thumb { float: inline-end; font-size: 1.6rem; }
        meter { width: 100%; height: 1rem; } dd { overflow-wrap: anywhere; }
        .sizes dd { margin: 0 0 .5rem; }
        @media (max-width: 60rem) { .compose { grid-template-columns: minmax(0, 1fr); } .compose > [data-preview] { position: static; max-height: none; } }
        details.same { margin-top: 2rem; border-top: 1px solid var(--line); padding-top: .5rem; }
        summary { cursor: pointer; padding: .25rem 0; }
        .live { color: var(--quiet); min-height: 1.5rem; margin: .25rem 0; }
        @media (max-width: 40rem) { .facts { grid-template-columns: 1fr; } .facts dd { margin-bottom: .5rem; } }
        @media (prefers-reduced-motion: no-preference) { tr.fresh { animation: fresh 1.5s; } }
        @keyframes fresh { from { background: var(--card); } }

        """

    /// The icon of the pages.
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a56c2"/>\
        <path d="M16 6a7 7 0 0 1 7 7v6l2 3H7l2-3v-6a7 7 0 0 1 7-7zm-3 18h6a3 3 0 0 1-6 0z" fill="#fff"/></svg>
        """
}
