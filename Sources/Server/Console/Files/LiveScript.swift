extension ConsoleFiles {
    /// The script of a live list: it puts rows that come as server-sent events into the table. Without it the page shows what was
    /// there when it was loaded.
    static let live = #"""
        const table = document.querySelector("table[data-live]");
        if (table) follow(table);

        function follow(table) {
          const body = table.tBodies[0];
          const limit = Number(table.dataset.limit);
          const status = document.querySelector("[data-live-status]");
          const source = new EventSource(table.dataset.live);
          let pending = new Map();
          let frame = 0;

          source.addEventListener("row", (event) => {
            const data = JSON.parse(event.data);
            pending.set(data.id, data);
            if (!frame) frame = requestAnimationFrame(show);
          });
          source.addEventListener("status", (event) => { status.textContent = JSON.parse(event.data).text; });
          addEventListener("pagehide", () => source.close());

          function show() {
            frame = 0;
            for (const data of pending.values()) put(data);
            pending = new Map();
            while (body.rows.length > limit) body.rows[body.rows.length - 1].remove();
            document.querySelector("[data-empty]")?.remove();
          }

          function put(data) {
            const template = document.createElement("template");
            template.innerHTML = data.html;
            const row = template.content.querySelector("tr");
            const old = body.querySelector(`tr[data-id="${CSS.escape(data.id)}"]`);
            if (old) {
              if (!old.contains(document.activeElement)) old.replaceWith(row);
              return;
            }
            row.classList.add("fresh");
            const next = [...body.rows].find((each) => BigInt(each.dataset.id) < BigInt(data.id));
            body.insertBefore(row, next ?? null);
          }
        }

        """#
}
