"""How soon the playground is there: cold visits in Chromium, nothing cached, from a server on this machine; then a lint as typed.

`make site` or `make playground` first. The bars: ready in under 4 s, a lint under 5 ms.
"""

from __future__ import annotations

import argparse
import statistics

from tests.emulator.server.browsers import Visit, browser
from tests.playground.test_page import Served, opened

TYPED = """async (rounds) => {
  const python = window.startPython(), text = document.querySelector("#editor-lint .cm-content").innerText, took = [];
  const asked = (question) => new Promise((then) => ((python.onmessage = then), python.postMessage(question)));
  await asked({ id: 0, ask: "ready" });
  for (let id = 1; id <= rounds; id++) {
    const from = performance.now();
    await asked({ id, ask: "lint", text: text + " ".repeat(id), path: "wrangler.jsonc", plan: "" });
    took.push(performance.now() - from);
  }
  python.terminate();
  return took;
}"""
"""Each text is new, and the way to the worker and back is in the figure, as is the first after "ready"."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=7)
    visits = parser.parse_args().visits
    site, ready, lints = Served(), [], []
    for _ in range(visits):
        with browser() as chromium, Visit(chromium, site) as visit:
            page = opened(visit)
            ready.append(int(page.evaluate("document.body.dataset.ready")))
            if len(ready) == visits:
                lints = sorted(page.evaluate(TYPED, 210))
    site.stop()
    print(f"ready: median {statistics.median(ready):.0f} ms, least {min(ready)}, most {max(ready)}, of {visits} cold visits")
    p95 = lints[len(lints) * 95 // 100]
    print(f"a lint: median {statistics.median(lints):.1f} ms, p95 {p95:.1f}, most {lints[-1]:.1f}")


if __name__ == "__main__":
    main()
