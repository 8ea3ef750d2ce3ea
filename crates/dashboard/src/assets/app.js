// Keeps pages up to date, counts down and handles keyboard shortcuts. Every page can be read without it; over plain
// HTTP, forms need it.
"use strict";

(() => {
  const all = (query, root = document) => Array.from(root.querySelectorAll(query));

  // Buttons that need this script are shown.
  document.documentElement.dataset.script = "yes";

  // -- The CSRF token. Browsers send cookies to every port of a host, so it is stored where only pages of our own origin
  // can read it.
  const TOKEN_KEY = "powerstrip-forms";
  const proof = document.querySelector("[data-proof]");
  if (proof) {
    localStorage.setItem(TOKEN_KEY, proof.dataset.proof);
    location.replace(proof.dataset.next);
    return;
  }
  document.addEventListener("submit", (event) => {
    for (const field of all("input[name=csrf]", event.target)) {
      field.value ||= localStorage.getItem(TOKEN_KEY) ?? "";
    }
  }, true);

  // -- Logs are read from their end, and follow it until the reader scrolls up.
  const isAtEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight < 8;
  const scrollToEnd = (log) => log?.scrollTo({ top: log.scrollHeight });
  all("[data-tail]").forEach(scrollToEnd);

  // -- Redrawing: a page fetches itself again and replaces its parts with `data-swap`.
  let drawing = false;
  let again = false;

  const swap = (fresh, keep) => {
    for (const part of all("[data-swap][id]")) {
      const next = fresh.getElementById(part.id);
      if (!next) {
        continue;
      }
      // What the reader has opened stays open.
      for (const block of all("details[id]", part)) {
        const twin = fresh.getElementById(block.id);
        if (twin) {
          twin.open = block.open;
        }
      }
      const same = part.dataset.version !== undefined
        ? part.dataset.version === next.dataset.version
        : part.outerHTML === next.outerHTML;
      const chosen = getSelection();
      const selecting = chosen.type === "Range" && part.contains(chosen.anchorNode);
      const asking = part.querySelector("details.confirm[open]");
      if (same || selecting || asking || (keep && part.contains(keep) && keep.matches("input, textarea, select"))) {
        continue;
      }
      const focused = part.contains(document.activeElement) ? document.activeElement : null;
      const key = focused && (focused.id ? `#${CSS.escape(focused.id)}` : focused.getAttribute("href") && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`);
      const followed = all("[data-tail]", part.parentElement ?? document).filter(isAtEnd).map((log) => log.id);
      part.replaceWith(document.importNode(next, true));
      followed.forEach((id) => scrollToEnd(document.getElementById(id)));
      if (key) {
        document.getElementById(part.id)?.querySelector(key)?.focus({ preventScroll: true });
      }
    }
    document.body.dataset.poll = fresh.body.dataset.poll ?? "0";
    document.body.dataset.live = fresh.body.dataset.live ?? "";
    if (!all("[data-keep-title]").length) {
      document.title = fresh.title;
    }
    tick();
  };

  const parsed = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

  const redraw = async () => {
    if (drawing) {
      again = true;
      return;
    }
    drawing = true;
    try {
      const response = await fetch(location.href, { credentials: "same-origin", headers: { "x-redraw": "1" } });
      if (response.redirected && new URL(response.url).pathname === "/dashboard/sign-in") {
        location.assign(response.url);
        return;
      }
      if (response.ok) {
        swap(await parsed(response), document.activeElement);
      }
    } catch {
      // The gateway is unreachable; the next interval tries again.
    } finally {
      drawing = false;
      if (again) {
        again = false;
        redraw();
      }
    }
  };

  let beats = 0;
  setInterval(() => {
    const every = Number(document.body.dataset.poll ?? 0);
    beats += 1;
    if (every > 0 && beats % every === 0 && !document.hidden) {
      redraw();
    }
  }, 1000);

  // A redraw may change the topics: a page of which nothing changes any more has none.
  const topics = () => (document.body.dataset.live ?? "").split(" ").filter(Boolean);
  if (topics().length > 0 && "EventSource" in window) {
    let stream = null;
    const listen = () => {
      stream = new EventSource("/dashboard/live");
      stream.addEventListener("open", () => {
        document.body.dataset.listening = "yes";
        // Changes may have happened before the stream was open.
        if (topics().length > 0) {
          redraw();
        }
      });
      stream.addEventListener("change", (event) => {
        if (event.data.split(" ").some((topic) => topics().includes(topic))) {
          redraw();
        }
      });
    };
    listen();
    // A hidden page must not keep one of the few connections of a browser open.
    addEventListener("pagehide", () => stream.close());
    addEventListener("pageshow", (event) => event.persisted && listen());
  }

  // -- Times.
  const ago = (ms) => {
    const seconds = Math.max(0, Math.floor((Date.now() - ms) / 1000));
    if (seconds < 5) return "just now";
    if (seconds < 60) return `${seconds} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
    return `${Math.floor(seconds / 86400)} d ago`;
  };
  const left = (ms) => {
    const seconds = Math.max(0, Math.ceil((ms - Date.now()) / 1000));
    if (seconds === 0) return "time is up";
    if (seconds < 60) return `${seconds} s left`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min left`;
  };
  const tick = () => {
    for (const time of all("time[data-ago]")) {
      time.textContent = ago(Number(time.dataset.ago));
    }
    for (const time of all("time[data-deadline]")) {
      time.textContent = left(Number(time.dataset.deadline));
    }
  };
  setInterval(tick, 1000);

  // -- Adding and removing parts of a form without a new page.
  document.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (!button?.matches("[data-soft]")) {
      return;
    }
    event.preventDefault();
    const form = event.target;
    const body = new URLSearchParams(new FormData(form, button));
    const response = await fetch(form.action, { method: "POST", body, credentials: "same-origin" });
    const fresh = await parsed(response);
    const next = fresh.getElementById(form.id);
    if (!next) {
      form.requestSubmit();
      return;
    }
    const action = button.value;
    form.replaceWith(document.importNode(next, true));
    const now = document.getElementById(form.id);
    if (action.startsWith("add:")) {
      const list = now.querySelector(`button[value="${CSS.escape(action)}"]`)?.closest("fieldset");
      all(".item", list ?? now).at(-1)?.querySelector("input:not([type=hidden]), textarea, select")?.focus();
    } else {
      now.querySelector("input:not([type=hidden]), textarea, select")?.focus();
    }
  });

  // -- Copying. Over plain HTTP to another host there is no clipboard API, so the text is selected and copied.
  const copyText = async (element) => {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(element.textContent);
      return;
    }
    const selection = getSelection();
    selection.selectAllChildren(element);
    const done = document.execCommand("copy");
    selection.removeAllRanges();
    if (!done) throw new Error("the browser refused");
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copy]");
    const source = button && document.getElementById(button.dataset.copy);
    if (!source) {
      return;
    }
    let said = "Copied";
    try {
      await copyText(source);
    } catch {
      said = "Not copied";
      getSelection().selectAllChildren(source);
    }
    button.textContent = said;
    const status = document.getElementById("said");
    if (status) {
      status.textContent = said;
    }
    setTimeout(() => {
      button.textContent = "Copy";
      if (status) {
        status.textContent = "";
      }
    }, 2000);
  });

  // -- Search while typing.
  let typing = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-instant]");
    if (!form) {
      return;
    }
    clearTimeout(typing);
    typing = setTimeout(() => {
      const query = new URLSearchParams(new FormData(form));
      history.replaceState(null, "", `${form.getAttribute("action")}?${query}`);
      redraw();
    }, 180);
  });

  // -- Approvals by keyboard: `j` and `k` select, `a` and `r` go to the button, and the same key again presses it.
  const decide = (key) => {
    const button = document.querySelector(`[data-decide="${key}"]`);
    if (!button) {
      return false;
    }
    if (document.activeElement === button) {
      button.click();
    } else {
      button.focus();
    }
    return true;
  };
  const step = (key) => {
    const link = document.querySelector(`a[data-step="${key}"]`);
    if (link) {
      link.click();
      return true;
    }
    const rows = all("[data-steps] a.row");
    const at = rows.indexOf(document.activeElement);
    const next = key === "j" ? at + 1 : Math.max(at, 1) - 1;
    rows[Math.min(next, rows.length - 1)]?.focus();
    return rows.length > 0;
  };
  const onApprovals = (key) => {
    if (key === "j" || key === "k") {
      return step(key);
    }
    if (key !== "a" && key !== "r") {
      return false;
    }
    const row = document.activeElement;
    if (row?.matches("[data-steps] a.row")) {
      location.assign(`${row.href}#${key}`);
      return true;
    }
    return decide(key);
  };
  if (location.hash === "#a" || location.hash === "#r") {
    decide(location.hash.slice(1));
  }

  // -- Keyboard.
  const keys = document.getElementById("keys");
  let going = 0;
  document.addEventListener("keydown", (event) => {
    const editing = event.target.matches?.("input, textarea, select, [contenteditable]");
    if (editing || event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Escape" && editing) {
        event.target.blur();
      }
      return;
    }
    if (Date.now() - going < 1500) {
      going = 0;
      const section = all("nav a[data-key]").find((link) => link.dataset.key === event.key);
      if (section) {
        event.preventDefault();
        location.assign(section.href);
        return;
      }
    }
    if (onApprovals(event.key)) {
      event.preventDefault();
    } else if (event.key === "g") {
      going = Date.now();
    } else if (event.key === "/") {
      event.preventDefault();
      const field = document.querySelector("[data-search]");
      if (field) {
        field.focus();
        field.select();
      } else {
        location.assign("/dashboard/catalog");
      }
    } else if (event.key === "?" && keys?.togglePopover) {
      event.preventDefault();
      keys.togglePopover();
    }
  });
})();
