/// The style sheet and the script of the pages.
package enum CenterFiles {
    /// The style sheet, for light and dark desktops.
    package static let style = """
        :root { color-scheme: light dark; --line: #d0d0d5; --card: #f4f4f6; --main: #0a5fd0; --quiet: #5c5c66; --bad: #b3261e; }
        @media (prefers-color-scheme: dark) {
          :root { --line: #44444c; --card: #26262b; --main: #7db4ff; --quiet: #a9a9b4; --bad: #ff8a80; }
        }
        body { font: 1rem/1.45 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 1rem; }
        nav { display: flex; gap: 1.5rem; border-bottom: 1px solid var(--line); padding-bottom: .6rem; }
        a { color: var(--main); }
        nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
        header { display: flex; justify-content: space-between; align-items: center; gap: 1rem; }
        h1 { font-size: 1.5rem; }
        h2 { font-size: 1.15rem; margin-top: 2rem; }
        h3 { font-size: 1rem; margin: 0; }
        article { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; margin: .8rem 0; }
        article.critical { border-color: var(--bad); }
        article p { margin: .15rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
        h3, bdi { overflow-wrap: anywhere; }
        .app, .due, .value, time { color: var(--quiet); font-size: .875rem; }
        .subtitle { font-weight: 500; }
        article img { display: block; max-width: 100%; max-height: 16rem; border-radius: .4rem; margin: .5rem 0; }
        .actions { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .6rem; align-items: end; }
        .reply { display: flex; gap: .5rem; align-items: end; flex-wrap: wrap; }
        .reply label span { display: block; font-size: .875rem; color: var(--quiet); }
        button, input[type=text], select { font: inherit; padding: .35rem .8rem; border: 1px solid var(--line); border-radius: .4rem; background: Canvas; color: CanvasText; }
        button.main { border-color: var(--main); color: var(--main); }
        button.destructive { border-color: var(--bad); color: var(--bad); }
        :focus-visible { outline: 2px solid var(--main); outline-offset: 2px; }
        .settings label { display: flex; justify-content: space-between; align-items: center; gap: 1rem; border-bottom: 1px solid var(--line); padding: .5rem 0; min-height: 2rem; }
        .settings button { margin: 1rem 0; }
        .apps { list-style: none; padding: 0; }
        .apps li { display: flex; justify-content: space-between; gap: 1rem; border-bottom: 1px solid var(--line); padding: .6rem 0; }
        .ended { border: 1px solid var(--bad); border-radius: .4rem; padding: .5rem .8rem; }
        @media (max-width: 30rem) { .settings label, .apps li { flex-direction: column; align-items: start; gap: .2rem; } }

        """

    /// The script, which fetches a page again every two seconds while it is looked at. The pages work without it.
    package static let script = """
        const main = () => document.querySelector("main");
        const ended = document.querySelector(".ended");
        const pause = 2000;
        let shown = main().innerHTML;

        const isInUse = () => main().contains(document.activeElement)
          || [...main().querySelectorAll("input[type=text]")].some((field) => field.value !== field.defaultValue);

        const refresh = async () => {
          if (document.hidden || isInUse()) return;
          let page;
          try {
            const answer = await fetch(location.href);
            if (!answer.ok) return;
            page = new DOMParser().parseFromString(await answer.text(), "text/html");
          } catch {
            ended.hidden = false;
            return;
          }
          ended.hidden = true;
          const next = page.querySelector("main");
          if (!next || next.innerHTML === shown || isInUse()) return;
          shown = next.innerHTML;
          main().replaceWith(next);
        };

        if ("live" in main().dataset) setInterval(refresh, pause);

        """
}
