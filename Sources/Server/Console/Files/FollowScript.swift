extension ConsoleFiles {
    /// The script of a page about one notification: it loads the parts of the page again when the notification has changed.
    /// Without it the page shows what was there when it was loaded.
    static let follow = #"""
        for (const section of document.querySelectorAll("[data-follow]")) follow(section);

        function follow(section) {
          const source = new EventSource(section.dataset.events);
          let loading = false;
          let isStale = false;

          // What changed before the stream was open is in the first answer.
          source.addEventListener("open", load);
          source.addEventListener("row", (event) => {
            if (JSON.parse(event.data).id === section.dataset.id) load();
          });
          addEventListener("pagehide", () => source.close());

          async function load() {
            if (loading) {
              isStale = true;
              return;
            }
            loading = true;
            const answer = await fetch(section.dataset.follow).catch(() => null);
            if (answer?.ok) show(await answer.text());
            loading = false;
            if (!isStale) return;
            isStale = false;
            load();
          }

          function show(html) {
            const template = document.createElement("template");
            template.innerHTML = html;
            for (const part of template.content.querySelectorAll("[data-part]")) {
              const old = section.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
              const focused = document.activeElement;
              if (!old || old.outerHTML === part.outerHTML) continue;
              if (focused !== old && old.contains(focused)) continue;
              old.className = part.className;
              old.innerHTML = part.innerHTML;
            }
          }
        }

        """#
}
