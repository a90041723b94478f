extension ConsoleFiles {
    /// The script of a page whose parts change: it puts fragments that come as server-sent events into the elements with their ids.
    /// Without it the page shows what was there when it was loaded.
    static let fragments = #"""
        const page = document.querySelector("[data-fragments]");
        if (page) follow(page.dataset.fragments);

        function follow(address) {
          const source = new EventSource(address);
          const shown = new Map();

          source.addEventListener("fragment", (event) => {
            const data = JSON.parse(event.data);
            const place = document.getElementById(data.id);
            if (!place || shown.get(data.id) === data.html) return;
            const focused = document.activeElement;
            if (focused !== place && place.contains(focused)) return;
            place.innerHTML = data.html;
            shown.set(data.id, data.html);
          });
          source.addEventListener("end", () => source.close());
          addEventListener("pagehide", () => source.close());
        }

        """#
}
